/** Recordings inside of other files, and recordings that their own tool converts before anything else can open them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import vm from "node:vm";
import { run } from "../../lib/steps.mjs";
import { python } from "./tools/python.mjs";

/**
 * @typedef {{ name: string | undefined, file: string, recording?: string, format?: string }} Unpacked `recording` is what the file was made of
 * @typedef {(file: string) => Promise<Unpacked[]>} Unpack
 */

/** DHAT's outputs in the tests of Valgrind's own viewer. @type {Unpack} */
export async function dhatTests(file) {
  const text = readFileSync(file, "utf8");
  const tests = text.matchAll(/\n {2}name: "(.*)",\n {2}input:\n\/\/-+\n(\{[\s\S]*?\n\})\n\/\/-+\n/g);
  return [...tests].map(([, name, input]) => written(file, `${name}.json`, input));
}

/** The report that Scalene's page shows first, a JavaScript object. @type {Unpack} */
export async function scaleneExample(file) {
  if (!file.endsWith(".js")) {
    return [{ name: path.basename(file), file }];
  }
  const report = vm.runInNewContext(`${readFileSync(file, "utf8")}; example_profile`);
  return [written(file, "example-profile.json", JSON.stringify(report))];
}

/** Traces with samples of stacks in the tests of Perfetto's trace processor. @type {Unpack} */
export async function perfettoTests(file) {
  const folder = `${file}.unpacked`;
  mkdirSync(folder, { recursive: true });
  const script = path.join(import.meta.dirname, "tools", "perfetto_functions.py");
  const { stdout } = await run(await python(), [script, "--make", folder, file]);
  const names = stdout.split("\n").filter((line) => line !== "");
  return names.map((name) => ({ name, file: path.join(folder, name) }));
}

/**
 * The recording as it is, of a tool that writes the format of another.
 * @param {string} format
 * @returns {Unpack}
 */
export function as(format) {
  return async (file) => [{ name: undefined, file, format }];
}

/** The trees that pyinstrument's page shows first, as its own JSON. @type {Unpack} */
export async function pyinstrumentDemo(file) {
  const script = path.join(import.meta.dirname, "tools", "pyinstrument_functions.py");
  const { stdout } = await run(await python(), [script, "json", file]);
  const name = path.basename(file).replace(/json$/, "pyinstrument.json");
  return [{ ...written(file, name, stdout), recording: file }];
}

/** A log of `node --prof`. @type {Unpack} */
export async function v8Log(file) {
  const { stdout } = await run("node", ["--prof-process", "--preprocess", file]);
  return [{ ...written(file, `${path.basename(file)}.json`, stdout), recording: file }];
}

function written(from, name, text) {
  const folder = `${from}.unpacked`;
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return { name, file };
}
