/**
 * Other people's programs, with small edits that turn them into samples. They are fetched or found in a folder that the user
 * names, and copied into out/bench/others, where they are edited and built. None of their code is in this repository.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { engine, root, run, StepError } from "../../lib/steps.mjs";
import { edited } from "./edits.mjs";

const here = path.join(root, "scripts", "bench", "others");
const cache = path.join(root, "out", "bench", "others");

/**
 * @typedef {object} Origin
 * @property {(folders: Record<string, string>) => Promise<string>} find the folder of the source
 * @property {string[]} copy the files or folders to copy
 * @property {Record<string, import("./edits.mjs").Edit[]>} edits by file
 * @property {(flags: string[], output: string) => string[][]} compile the build commands
 * @property {() => string[]} args the program's arguments
 * @property {number} [skip] how many units to skip at the start, because they are not representative
 * @property {{ what: string, edits: Record<string, import("./edits.mjs").Edit[]> }} [repair] a known fix, applied after the edits
 *
 * @typedef {import("../lib/samples.mjs").Sample & { origin: Origin }} Borrowed a sample whose source is not in this repository
 * @typedef {{ file: string, args: string[], folder: string, skip?: number }} Command how to start it
 */

/** The folder of a borrowed program's files. @param {string} name */
export function folderOf(name) {
  return path.join(cache, name);
}

/**
 * A folder that the user names by `KEY=FOLDER`, remembered for later runs.
 * @param {string} key @param {string} what a description, for the error @param {string} sign a file that it must have
 */
export function named(key, what, sign) {
  return async (folders) => {
    const memory = path.join(cache, "folders.json");
    const known = existsSync(memory) ? JSON.parse(readFileSync(memory, "utf8")) : {};
    const folder = folders[key] ?? known[key];
    if (folder === undefined || !existsSync(path.join(folder, sign))) {
      throw new StepError(`${what} is missing. Name its folder by ${key}=FOLDER (${sign} must be in it).`);
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

/** At -O1, like the samples, because a line's code then stays together. */
function common() {
  const include = [here, path.join(root, "samples"), path.join(engine, "include")].flatMap((it) => ["-I", it]);
  const forced = ["-include", path.join(here, "borrowed.h")];
  return ["-O1", "-g", "-w", "-pthread", "-D_GNU_SOURCE", ...include, ...forced];
}

/** Counts units. Each program is linked with it. */
export const helper = path.join(here, "borrowed.c");

/** Copies the files that are needed, and edits them. Builds of earlier edits are removed. */
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
    // Latin-1 keeps every byte unchanged.
    writeFileSync(file, edited(readFileSync(file, "latin1"), changes, name), "latin1");
  }
  writeFileSync(state, wanted);
}
