/**
 * How much of a target's time is really left out in programs by others. Where work is done four times and a repetition is left out,
 * that is a fourth of the time only if all repetitions take equally long: often the first waits for memory, and the others find
 * everything in the cache. So Fulcrum's samples are counted, in runs whose experiments change nothing.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { root, StepError } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { invocation } from "../lib/measure.mjs";
import { choose } from "./fulcrum.mjs";
import { fulcrum } from "./profile.mjs";
import { levels } from "./truth.mjs";

/** Seconds of a run. */
const each = 5;
/** The unchanged program is first and last: its two runs tell how far such a measurement is off. */
const order = [0, ...levels, 0];
/** With fewer visits or samples, a run tells nothing. */
const fewestVisits = 50;
const fewestSamples = 100;
/** Nor do runs of an unchanged program that differ by more than this fraction. */
const mostApart = 0.05;
/** Seconds for a target. */
export const secondsToCount = each * order.length;

/** Whether the benchmark makes the program repeat its work: the samples do less of the same arithmetic instead. */
export const repeats = (sample) => sample.origin !== undefined;

/**
 * @returns {Promise<Record<string, LeftOut>>} by target
 * @typedef {{ levels: Record<string, number>, apart?: number }} LeftOut fractions of the target's time, where they are known, and by
 *   how much two unchanged runs differ
 */
export async function measureLeftOut(sample, program) {
  const found = {};
  for (const target of sample.targets) {
    const times = [];
    for (const percent of order) {
      times.push(await timeOf(sample, target, program, percent));
    }
    found[target.name] = leftOut(times);
  }
  return found;
}

/** @param {(number | undefined)[]} times of a visit, in the order of the runs @returns {LeftOut} */
export function leftOut(times) {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) {
    return { levels: {} };
  }
  const full = (first + last) / 2;
  const apart = Math.abs(first - last) / full;
  const parts = levels.flatMap((percent, number) => {
    const time = times[number + 1];
    return time === undefined || apart > mostApart ? [] : [[percent, 1 - time / full]];
  });
  return { levels: Object.fromEntries(parts), apart };
}

/** Nanoseconds that the target takes for each visit of the progress point, while this part of it is left out. */
async function timeOf(sample, target, program, percent) {
  const folder = path.join(root, "out", "bench", "left-out");
  mkdirSync(path.dirname(folder), { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  const { command, cwd, env } = invocation(program);
  const reduced = percent === 0 ? {} : { SAMPLE_REDUCE: `${target.name}:${percent}` };
  const options = ["--quiet", "--duration", `${each}s`, "--output", folder, "--no-placebo", "--fixed-speedup", "0"];
  const run = [fulcrum, "run", ...options, ...choose(sample, target), "--", ...command];
  const done = await runChild(run, { cwd, env: { ...env, ...reduced }, limit: each + 30 });
  if (done.code !== 0) {
    throw new StepError(`${done.stderr.trimEnd()}\nFulcrum does not count the samples of ${sample.name}.`);
  }
  const files = readdirSync(folder).filter((name) => name.startsWith("causal-") && name.endsWith(".jsonl"));
  return timePerVisit(files.map((name) => readFileSync(path.join(folder, name), "utf8")).join(""), sample.point);
}

/** @param {string} text records of a run @param {string} point @returns {number | undefined} undefined if there are too few */
export function timePerVisit(text, point) {
  const records = text
    .split("\n")
    .filter((line) => /^\{"type":"(header|experiment)"/.test(line))
    .map((line) => JSON.parse(line));
  const { period } = records.find(({ type }) => type === "header");
  const unchanged = records.filter(({ type, speedup }) => type === "experiment" && speedup === 0);
  const sum = (of) => unchanged.reduce((all, record) => all + of(record), 0);
  const visits = sum(({ points }) => points.find(({ name }) => name === point)?.delta ?? 0);
  const samples = sum((record) => record.selected_samples);
  return visits < fewestVisits || samples < fewestSamples ? undefined : (period * samples) / visits;
}
