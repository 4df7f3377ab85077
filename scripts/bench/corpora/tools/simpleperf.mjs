/** simpleperf's protobuf, as simpleperf itself prints it; it comes with the Python package perftools. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { run } from "../../../lib/steps.mjs";
import { compareFunctions } from "../functions.mjs";
import { installed } from "./python.mjs";
import { costsOfStacks, unnamed } from "./trees.mjs";

/** Simpleperf for Linux; undefined on other machines. */
export async function simpleperfProgram() {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return undefined;
  }
  const folder = await installed("perftools", "0.2.5");
  const program = path.join(folder, "bin/AndroidSdk/ndk/27.0.11902837/simpleperf/bin/linux/x86_64/simpleperf");
  if (!existsSync(program)) {
    return undefined;
  }
  chmodSync(program, 0o755);
  return program;
}

export async function simpleperf(engine) {
  const program = await simpleperfProgram();
  if (program === undefined) {
    return undefined;
  }
  const version = (await run(program, ["--version"])).output.trim().replace(/^.*Simpleperf version/, "");
  const compare = async ({ file, info }) => {
    const { stdout } = await run(program, ["report-sample", "--dump-protobuf-report", unpacked(file)]);
    const { events, samples } = reportOf(stdout);
    const all = { numbers: 0, differences: [] };
    for (const [index, { name, total }] of info.valueTypes.entries()) {
      const mine = samples.filter(({ event }) => name === "samples" || events[event] === name);
      const stacks = mine.map(({ frames, count }) => ({ frames, cost: name === "samples" ? 1 : count }));
      const sum = stacks.reduce((all, { cost }) => all + cost, 0);
      const { functions } = await engine.top(file, index + 1);
      const ours = functions.map((it) => ({ name: it.name, self: it.base, total: it.cum }));
      const { numbers, differences } = compareFunctions(
        [{ name: "", self: total }, ...ours],
        [{ name: "", self: sum }, ...costsOfStacks(stacks)],
        1,
      );
      all.numbers += numbers;
      all.differences.push(...differences.map((it) => `${name}: ${it}`));
    }
    return all;
  };
  return { compare, tool: `simpleperf ${version.trim()}` };
}

/** simpleperf opens no gzip. */
function unpacked(file) {
  if (!file.endsWith(".gz")) {
    return file;
  }
  const plain = file.slice(0, -".gz".length);
  writeFileSync(plain, gunzipSync(readFileSync(file)));
  return plain;
}

/**
 * The report: its events, and every sample with its stack, innermost frame first.
 * @param {string} text
 */
export function reportOf(text) {
  const events = [...text.matchAll(/^ {2}event_type: (.*)$/gm)].map(([, name]) => name);
  const files = new Map();
  for (const [, id, body] of text.matchAll(/^file:\n {2}id: (\d+)\n((?: {2}.*\n)*)/gm)) {
    const path = /^ {2}path: (.*)$/m.exec(body)?.[1] ?? "";
    files.set(id, { path, symbols: [...body.matchAll(/^ {2}symbol: (.*)$/gm)].map(([, name]) => name) });
  }
  const samples = [];
  for (const [, body] of text.matchAll(/^sample \d+:\n((?: {2}.*\n)*)/gm)) {
    const number = (key) => Number(new RegExp(`^ {2}${key}: (-?\\d+)$`, "m").exec(body)?.[1]);
    const frames = [...body.matchAll(/^ +file_id: (\d+)\n +symbol_id: (-?\d+)$/gm)].map(([, file, symbol]) => {
      const { path, symbols } = files.get(file);
      return symbol === "-1" ? unnamed(path) : symbols[symbol];
    });
    samples.push({ event: number("event_type_id"), count: number("event_count"), frames });
  }
  return { events, samples };
}
