/**
 * Programs that others wrote, with the small edits that make samples of them: fetched or found in a folder that the user
 * names, copied into out/bench/others, edited and built there. None of their code is part of this repository.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { engine, root, run, StepError } from "../../lib/steps.mjs";
import { edited } from "./edits.mjs";

const here = path.join(root, "scripts", "bench", "others");
const cache = path.join(root, "out", "bench", "others");

/**
 * @typedef {object} Origin
 * @property {(folders: Record<string, string>) => Promise<string>} find the folder of its source
 * @property {string[]} copy files or folders of it
 * @property {Record<string, import("./edits.mjs").Edit[]>} edits by file
 * @property {(flags: string[], output: string) => string[][]} compile commands that make the program
 * @property {() => string[]} args what the program is called with
 * @property {number} [skip] its first units, which are no measure
 * @property {{ what: string, edits: Record<string, import("./edits.mjs").Edit[]> }} [repair] known, and made after the edits
 *
 * @typedef {import("../lib/samples.mjs").Sample & { origin: Origin }} Borrowed a sample whose source is not in this repository
 * @typedef {{ file: string, args: string[], folder: string, skip?: number }} Command how it is started
 */

/** Where a borrowed program's files are. @param {string} name */
export function folderOf(name) {
  return path.join(cache, name);
}

/**
 * A folder that the user names by `KEY=FOLDER`, kept for later runs.
 * @param {string} key @param {string} what it is, for the error @param {string} sign a file that must be in it
 */
export function named(key, what, sign) {
  return async (folders) => {
    const memory = path.join(cache, "folders.json");
    const known = existsSync(memory) ? JSON.parse(readFileSync(memory, "utf8")) : {};
    const folder = folders[key] ?? known[key];
    if (folder === undefined || !existsSync(path.join(folder, sign))) {
      throw new StepError(`${what} is not here: name a folder with it by ${key}=FOLDER (${sign} must be in it).`);
    }
    mkdirSync(cache, { recursive: true });
    writeFileSync(memory, JSON.stringify({ ...known, [key]: folder }));
    return folder;
  };
}

/**
 * @param {Borrowed} sample
 * @param {{ forCoz?: boolean, repaired?: boolean, folders?: Record<string, string> }} [options]
 * @returns {Promise<Command>}
 */
export async function buildBorrowed(sample, { forCoz = false, repaired = false, folders = {} } = {}) {
  const origin = repaired ? withRepair(sample.origin) : sample.origin;
  const folder = folderOf(`${sample.name}${repaired ? "-repaired" : ""}`);
  const file = path.join(folder, forCoz ? "program-coz" : "program");
  const args = origin.args();
  const flags = [...common(), ...(forCoz ? ["-gdwarf-4", "-gstrict-dwarf"] : [])];
  const commands = origin.compile(flags, file);
  const helpers = ["borrowed.h", "borrowed.c", "coz.h"].map((name) => readFileSync(path.join(here, name), "utf8"));
  const key = JSON.stringify([commands, origin.edits, helpers]);
  const mark = `${file}.built`;
  if (!existsSync(mark) || readFileSync(mark, "utf8") !== key) {
    const from = await origin.find(folders);
    unpack(from, folder, origin);
    for (const [program = "", ...rest] of commands) {
      await run(program, rest, { cwd: folder });
    }
    writeFileSync(mark, key);
  }
  return { file, args, folder, skip: origin.skip ?? 0 };
}

function withRepair(origin) {
  const both = Object.entries(origin.edits).map(([file, edits]) => [
    file,
    [...edits, ...(origin.repair.edits[file] ?? [])],
  ]);
  return { ...origin, edits: Object.fromEntries(both) };
}

/** At -O1, as the samples: a line's code then stays together. */
function common() {
  const include = [here, path.join(root, "samples"), path.join(engine, "include")].flatMap((it) => ["-I", it]);
  const forced = ["-include", path.join(here, "borrowed.h")];
  return ["-O1", "-g", "-w", "-pthread", "-D_GNU_SOURCE", ...include, ...forced];
}

/** What counts units: each program is linked with it. */
export const helper = path.join(here, "borrowed.c");

/** Copies what is needed, and edits it. What was built before from other edits goes. */
function unpack(from, folder, { copy, edits }) {
  const state = path.join(folder, ".edits");
  const wanted = JSON.stringify(edits);
  if (existsSync(state) && readFileSync(state, "utf8") === wanted) {
    return;
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const part of copy) {
    cpSync(path.join(from, part), path.join(folder, path.basename(part)), { recursive: true });
  }
  for (const [name, changes] of Object.entries(edits)) {
    const file = path.join(folder, name);
    // Latin-1 keeps every byte as it is.
    writeFileSync(file, edited(readFileSync(file, "latin1"), changes, name), "latin1");
  }
  writeFileSync(state, wanted);
}
