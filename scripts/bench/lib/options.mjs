/** The arguments of a benchmark of samples: the samples' names, and flags. */
import path from "node:path";
import { StepError } from "../../lib/steps.mjs";

const common = ["quick", "resume", "report"];

/**
 * --quick: tiny durations, to check that everything works; its numbers mean nothing and never get into docs/
 * --resume: does not repeat what the journal has
 * --report: measures nothing; writes the document from the journal and from the recorded runs that still exist
 * KEY=FOLDER: the location of something that cannot be fetched
 * @param {string[]} args
 * @param {{ more?: string[], keys?: string[] }} [allowed] further flags, and the keys of folders
 */
export function parseOptions(args, { more = [], keys = [] } = {}) {
  const flags = [...common, ...more];
  const given = args.filter((arg) => arg.startsWith("--")).map((arg) => arg.slice(2));
  const unknown = given.filter((flag) => !flags.includes(flag));
  if (unknown.length > 0) {
    throw new StepError(`There is no option --${unknown.join(", --")}: choose among --${flags.join(", --")}.`);
  }
  const rest = args.filter((arg) => !arg.startsWith("--"));
  const folders = rest.filter((arg) => arg.includes("=")).map((arg) => folder(arg, keys));
  const set = flags.map((flag) => [flag, given.includes(flag)]);
  const names = rest.filter((arg) => !arg.includes("="));
  return { names, folders: Object.fromEntries(folders), ...Object.fromEntries(set) };
}

function folder(arg, keys) {
  const [, key = "", name = ""] = /^(\w+)=(.*)$/.exec(arg) ?? [];
  if (!keys.includes(key)) {
    const some = keys.map((it) => `${it}=FOLDER`).join(", ") || "none";
    throw new StepError(`There is no folder key ${arg}: choose among ${some}.`);
  }
  return [key, path.resolve(name)];
}
