/**
 * How much of a target's time is really left out in programs by others. Where work is done four times and a repetition is left out,
 * that is a fourth of the time only if all repetitions take equally long: often the first waits for memory, and the others find
 * everything in the cache. So Fulcrum's samples are counted, in runs whose experiments change nothing.
 *
 * The same samples tell whether the change reached further: a shorter loop over a smaller table also makes the code around it faster,
 * and an instruction that is left out may let the next one wait for memory instead. A prediction is about the target alone, so what
 * such a change brings is no clean answer to it.
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
/** The rest of the program takes as long as before unless it changed by more than this fraction of all of a visit. */
export const mostElsewhere = 0.05;
/** Seconds for a target. */
export const secondsToCount = each * order.length;

/** Whether the benchmark makes the program repeat its work: the samples do less of the same arithmetic instead. */
export const repeats = (sample) => sample.origin !== undefined;

/**
 * @returns {Promise<Record<string, LeftOut>>} by target
 * @typedef {{ levels: Record<string, number>, elsewhere: Record<string, number>, apart?: number }} LeftOut fractions of the target's
 *   time, where they are known; what the rest of the program takes more than before, beyond doubt, as fractions of all of a visit;
 *   and by how much two unchanged runs differ
 * @typedef {{ target: number, all?: number }} Time nanoseconds of a visit, `all` if the run is long enough to tell
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

/** @param {(Time | undefined)[]} times in the order of the runs @returns {LeftOut} */
export function leftOut(times) {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) {
    return { levels: {}, elsewhere: {} };
  }
  const full = (first.target + last.target) / 2;
  const apart = Math.abs(first.target - last.target) / full;
  const known = apart > mostApart ? [] : levels.map((percent, number) => [percent, times[number + 1]]);
  const there = known.filter(([, time]) => time !== undefined);
  return {
    levels: Object.fromEntries(there.map(([percent, time]) => [percent, 1 - time.target / full])),
    elsewhere: changesElsewhere(first, last, there),
    apart,
  };
}

/** By how much more than two unchanged runs differ in it the rest of the program changed. Nothing where that is not known. */
function changesElsewhere(first, last, changed) {
  const rest = ({ target, all }) => all - target;
  const [before, all] = [(rest(first) + rest(last)) / 2, (first.all + last.all) / 2];
  const doubt = Math.abs(rest(first) - rest(last));
  const change = (time) => {
    const difference = rest(time) - before;
    return (difference - Math.max(-doubt, Math.min(doubt, difference))) / all;
  };
  const whole = [first, last].every((time) => time.all !== undefined);
  const counted = changed.filter(([, time]) => whole && time.all !== undefined);
  return Object.fromEntries(counted.map(([percent, time]) => [percent, change(time)]));
}

/** What each visit of the progress point takes while this part of the target is left out. @returns {Promise<Time | undefined>} */
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

/** @param {string} text records of a run @param {string} point @returns {Time | undefined} undefined if there are too few */
export function timePerVisit(text, point) {
  const records = text
    .split("\n")
    .filter((line) => /^\{"type":"(header|experiment|samples)".*\}$/.test(line))
    .map((line) => JSON.parse(line));
  const of = (wanted) => records.filter(({ type }) => type === wanted);
  const [{ period }] = of("header");
  const unchanged = of("experiment").filter(({ speedup }) => speedup === 0);
  const sum = (what) => unchanged.reduce((all, record) => all + what(record), 0);
  const visits = sum(({ points }) => points.find(({ name }) => name === point)?.delta ?? 0);
  const samples = sum((record) => record.selected_samples);
  if (visits < fewestVisits || samples < fewestSamples) {
    return undefined;
  }
  // The totals are of the whole run, whose beginning is none of this program's steady work.
  const [begin, end] = [of("samples")[0], of("samples").at(-1)];
  const target = (period * samples) / visits;
  if (begin === end) {
    return { target };
  }
  const busy = (end.total - begin.total) / (end.time - begin.time);
  return { target, all: (period * busy * sum(({ wall }) => wall)) / visits };
}
