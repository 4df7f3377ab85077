/** The cells of the table: what was predicted beside what happened. Fractions throughout. */
import { mean, speedup } from "../lib/statistics.mjs";
import { mostElsewhere } from "./leftOut.mjs";
import { levels } from "./truth.mjs";

/**
 * @typedef {object} Row
 * @property {string} sample @property {string} target @property {number} percent
 * @property {number | undefined} leftOut of the target's time, where it was measured: then predictions are for this speedup
 * @property {number | undefined} elsewhere what the rest of the program takes more than before, of all its time, where that is much
 * @property {{ value: number, spread: number } | undefined} actual
 * @property {Prediction | undefined} fulcrum and so on: a prediction by the key of each profiler
 *
 * @typedef {object} Prediction either a failure or the rest
 * @property {string} [failure] @property {string} [detail]
 * @property {number} [value] @property {number | null} [low] @property {number | null} [high]
 * @property {number} [error] absolute
 * @property {boolean} [inside] the interval contains what was measured
 */

/** @param {(part: string) => any} part of the sample's results @param {string[]} peers their keys @returns {Row[]} */
export function compare(sample, part, peers = ["coz"]) {
  const truth = part("truth");
  const counted = part("left out");
  return sample.targets.flatMap((target) =>
    levels.map((percent) => {
      const costs = truth?.costs[`${target.name}:${percent}`];
      const actual = costs === undefined ? undefined : speedup(truth.costs.full, costs);
      const leftOut = counted?.[target.name]?.levels[percent];
      const change = counted?.[target.name]?.elsewhere?.[percent];
      const elsewhere = Math.abs(change ?? 0) > mostElsewhere ? change : undefined;
      const cell = (name) => judge(part(name)?.[target.name], (leftOut ?? percent / 100) * 100, actual);
      return {
        sample: sample.name,
        target: target.name,
        percent,
        theory: target.theory?.[levels.indexOf(percent)],
        leftOut,
        elsewhere,
        actual,
        ...Object.fromEntries(["fulcrum", ...peers].map((key) => [key, cell(key)])),
      };
    }),
  );
}

function judge(result, percent, actual) {
  if (result === undefined) {
    return undefined;
  }
  if (result.failure !== undefined) {
    return { failure: result.failure, detail: result.detail };
  }
  const prediction = predictionAt(result.levels, percent);
  if (prediction === undefined) {
    return { failure: `no experiment at ${Math.round(percent)} %`, detail: result.notes?.join(" ") };
  }
  if (actual === undefined) {
    return prediction;
  }
  const { value, low, high } = prediction;
  const inside = low !== null && high !== null && low <= actual.value && actual.value <= high;
  return { ...prediction, error: Math.abs(value - actual.value), inside };
}

const nothing = { value: 0, low: 0, high: 0 };

/** What is so few points beyond the last level is as good as that level. */
const beyond = 2;

/**
 * The prediction for a speedup: that of its level, or on the line between those of the two next to it. Nothing is 0 %.
 * @param {Record<string, Prediction>} known @param {number} percent
 * @returns {Prediction | undefined} undefined beyond the last level
 */
export function predictionAt(known, percent) {
  if (known[percent] !== undefined) {
    return known[percent];
  }
  const all = [[0, nothing], ...Object.entries(known).map(([level, it]) => [Number(level), it])];
  const below = all.filter(([level]) => level <= percent).at(-1);
  const above = all.find(([level]) => level > percent);
  if (below === undefined || above === undefined) {
    return below !== undefined && percent <= below[0] + beyond ? below[1] : undefined;
  }
  const part = (percent - below[0]) / (above[0] - below[0]);
  const between = (key) =>
    below[1][key] === null || above[1][key] === null ? null : below[1][key] + part * (above[1][key] - below[1][key]);
  return { value: between("value"), low: between("low"), high: between("high") };
}

/** Mean absolute error, worst error and coverage of the cells that have both numbers. */
export function summarise(rows, who) {
  const cells = rows.map((row) => row[who]).filter((cell) => cell?.error !== undefined);
  if (cells.length === 0) {
    return undefined;
  }
  const errors = cells.map((cell) => cell.error);
  return {
    cells: cells.length,
    mean: mean(errors),
    worst: Math.max(...errors),
    inside: cells.filter((cell) => cell.inside).length,
  };
}
