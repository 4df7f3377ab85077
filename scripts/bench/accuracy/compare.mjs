/** The cells of the table: what was predicted beside what happened. Fractions throughout. */
import { mean, speedup } from "../lib/statistics.mjs";
import { levels } from "./truth.mjs";

/**
 * @typedef {object} Row
 * @property {string} sample @property {string} target @property {number} percent
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
  return sample.targets.flatMap((target) =>
    levels.map((percent) => {
      const costs = truth?.costs[`${target.name}:${percent}`];
      const actual = costs === undefined ? undefined : speedup(truth.costs.full, costs);
      const cell = (name) => judge(part(name)?.[target.name], percent, actual);
      return {
        sample: sample.name,
        target: target.name,
        percent,
        theory: target.theory?.[levels.indexOf(percent)],
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
  const prediction = result.levels[percent];
  if (prediction === undefined) {
    return { failure: `no experiment at ${percent} %`, detail: result.notes?.join(" ") };
  }
  if (actual === undefined) {
    return prediction;
  }
  const { value, low, high } = prediction;
  const inside = low !== null && high !== null && low <= actual.value && actual.value <= high;
  return { ...prediction, error: Math.abs(value - actual.value), inside };
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
