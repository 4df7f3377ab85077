/** The arguments of a benchmark that has samples: their names, and flags. */
import { StepError } from "../../lib/steps.mjs";

const flags = ["quick", "resume", "report"];

/**
 * --quick: tiny durations, to see that everything works; its numbers say nothing and never get into docs/
 * --resume: what the journal has is not measured again
 * --report: nothing is measured, the document is written from the journal, and from the recorded runs that are still there
 */
export function parseOptions(args) {
  const given = args.filter((arg) => arg.startsWith("--")).map((arg) => arg.slice(2));
  const unknown = given.filter((flag) => !flags.includes(flag));
  if (unknown.length > 0) {
    throw new StepError(`There is no option --${unknown.join(", --")}: choose among --${flags.join(", --")}.`);
  }
  const names = args.filter((arg) => !arg.startsWith("--"));
  return { names, ...Object.fromEntries(flags.map((flag) => [flag, given.includes(flag)])) };
}
