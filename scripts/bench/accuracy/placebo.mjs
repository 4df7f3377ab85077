/**
 * What placebos still seem to do once what pausing costs is taken off: their true effect is none, so that is the error of the
 * correction. What pausing costs is learnt from one half of a run's placebos and taken off the other half, and the other way
 * round, because what has been fitted to a value says nothing about it.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { mean } from "../lib/statistics.mjs";

/** What a pause costs on machines that were measured is of this size, as the engine takes it: nanoseconds. */
const usual = 50_000;
/** An experiment with fewer visits tells too little. */
const fewest = 5;

/**
 * @typedef {{ slower: number, pauses: number }} Observation how much longer than the baseline a unit took, as a fraction; and
 *   how many pauses fell into the baseline's nanosecond
 * @typedef {{ count: number, before: number, after: number }} PlaceboError mean effects, as fractions: a gain is positive
 */

/** Of a run folder. @returns {PlaceboError | undefined} */
export function placebosOf(folder, point) {
  const files = readdirSync(folder).filter((name) => name.startsWith("causal-") && name.endsWith(".jsonl"));
  const lines = files.flatMap((name) => readFileSync(path.join(folder, name), "utf8").split("\n"));
  const records = lines.filter((line) => /^\{"type":"(experiment|placebo)"/.test(line)).map((line) => JSON.parse(line));
  return placeboError(records, point);
}

/** @param {any[]} records experiments and placebos of one run @param {string} point a throughput progress point */
export function placeboError(records, point) {
  const visited = records.flatMap((record) => {
    const visits = record.points.find(({ name, kind }) => name === point && kind === "throughput")?.delta ?? 0;
    return visits >= fewest && record.duration > 0 ? [{ ...record, period: record.duration / visits, visits }] : [];
  });
  const baselines = visited.filter(({ type, speedup }) => type === "experiment" && speedup === 0);
  const placebos = visited.filter(({ type }) => type === "placebo");
  if (baselines.length < 2 || placebos.length < 4) {
    return undefined;
  }
  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const baseline = total(baselines.map(({ duration }) => duration)) / total(baselines.map(({ visits }) => visits));
  const noise = mean(baselines.map(({ period }) => (period / baseline - 1) ** 2));
  const seen = placebos.map(({ period, pauses = 0, duration }) => ({
    slower: period / baseline - 1,
    pauses: ((pauses / duration) * period) / baseline,
  }));
  const halves = [0, 1].map((half) => seen.filter((_, number) => number % 2 === half));
  const left = halves.flatMap((half, number) => {
    const cost = costOfPause(halves[1 - number], noise);
    return half.map(({ slower, pauses }) => slower - pauses * cost);
  });
  return { count: seen.length, before: -mean(seen.map(({ slower }) => slower)), after: -mean(left) };
}

/** Nanoseconds, by least squares with what is usual as a prior. @param {Observation[]} seen @param {number} noise its variance */
function costOfPause(seen, noise) {
  const products = seen.reduce((sum, { slower, pauses }) => sum + slower * pauses, 0);
  const squares = seen.reduce((sum, { pauses }) => sum + pauses * pauses, 0);
  const weight = squares + noise / usual ** 2;
  return weight > 0 ? products / weight : 0;
}
