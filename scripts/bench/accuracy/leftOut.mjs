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
import { median } from "../lib/statistics.mjs";
import { choose } from "./fulcrum.mjs";
import { fulcrum } from "./profile.mjs";
import { levels } from "./truth.mjs";

/** Seconds of a run, and how often all of them are made: in turn, because a machine is not as fast in each minute. */
const each = 3.5;
const rounds = 3;
/** With fewer visits or samples, a run tells nothing. */
const fewestVisits = 50;
const fewestSamples = 100;
/** Nor do rounds that are further from their median than this fraction of the target's time. */
const mostApart = 0.05;
/** The rest of the program takes as long as before unless it changed by more than this fraction of all of a visit. */
export const mostElsewhere = 0.05;
/** Seconds for a target. */
export const secondsToCount = each * rounds * (levels.length + 1);

/** Whether the benchmark makes the program repeat its work: the samples do less of the same arithmetic instead. */
export const repeats = (sample) => sample.origin !== undefined;

/**
 * @returns {Promise<Record<string, LeftOut>>} by target
 * @typedef {{ levels: Record<string, number>, elsewhere: Record<string, number>, apart?: number }} LeftOut fractions of the target's
 *   time, where they are known; what the rest of the program takes more than before, beyond doubt, as fractions of all of a visit;
 *   and how far a round is from the median at most, as a fraction of the target's time
 * @typedef {{ target: number, all?: number }} Time nanoseconds of a visit, `all` if the run is long enough to tell
 * @typedef {Record<string, Time | undefined>} Round by the part of the target that was left out, 0 for the unchanged program
 */
export async function measureLeftOut(sample, program) {
  const found = {};
  for (const target of sample.targets) {
    /** @type {Round[]} */
    const measured = [];
    for (let round = 0; round < rounds; round += 1) {
      const times = {};
      for (const percent of [0, ...levels]) {
        times[percent] = await timeOf(sample, target, program, percent);
      }
      measured.push(times);
    }
    found[target.name] = leftOut(measured);
  }
  return found;
}

/** @param {Round[]} measured @returns {LeftOut} */
export function leftOut(measured) {
  const found = { levels: {}, elsewhere: {} };
  for (const percent of levels) {
    const pairs = measured.map((times) => ({ full: times[0], less: times[percent] }));
    const known = pairs.every(({ full, less }) => full !== undefined && less !== undefined);
    const { middle, apart } = spreadOf(known ? pairs.map(({ full, less }) => 1 - less.target / full.target) : []);
    found.apart = Math.max(found.apart ?? 0, apart);
    if (apart <= mostApart) {
      found.levels[percent] = middle;
      const change = changeElsewhere(pairs);
      if (change !== undefined) {
        found.elsewhere[percent] = change;
      }
    }
  }
  return found;
}

/** By how much more than rounds differ in it the rest of the program changed; undefined where that is not known. */
function changeElsewhere(pairs) {
  if (pairs.some(({ full, less }) => full.all === undefined || less.all === undefined)) {
    return undefined;
  }
  const rest = ({ target, all }) => all - target;
  const { middle, apart } = spreadOf(pairs.map(({ full, less }) => (rest(less) - rest(full)) / full.all));
  return middle - Math.max(-apart, Math.min(apart, middle));
}

/** The median, and how far from it a value is at most: any distance where there are no values. */
function spreadOf(values) {
  if (values.length === 0) {
    return { middle: Number.NaN, apart: Number.POSITIVE_INFINITY };
  }
  const middle = median(values);
  return { middle, apart: Math.max(...values.map((value) => Math.abs(value - middle))) };
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
