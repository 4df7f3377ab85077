/**
 * The only statistics and random numbers in JavaScript, for benchmarks and tests. They cannot call the engine's crate `stats`,
 * which computes everything that users see. Quantiles and intervals follow its rules.
 */

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * The quantile by the nearest rank: the smallest value such that at least the fraction `part` of all values is not greater.
 * @param {readonly number[]} values
 * @param {number} part from 0 to 1
 */
export function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  // 0.07 · 100 is 7.000000000000001. The rounding error must not add a rank.
  return sorted[Math.max(0, Math.ceil(sorted.length * part * (1 - 4 * Number.EPSILON)) - 1)];
}

/**
 * The middle 95 %: 2.5 % of the values, rounded down, are removed at either end.
 * @param {readonly number[]} values
 * @returns {{ low: number, high: number }}
 */
export function middle95(values) {
  const negated = values.map((value) => -value);
  return { low: -percentile(negated, 0.975), high: percentile(values, 0.975) };
}

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The median over rounds of 1 - after / before, with half the width of its 95 % bootstrap interval. Both values of a round are
 * measured close together, so that a machine that slows down over minutes does not matter. The seed is fixed, so that the same
 * measurements always give the same table.
 * @param {number[]} before one value per round
 * @param {number[]} after one value per round
 * @returns {{ value: number, spread: number }}
 */
export function speedup(before, after) {
  const random = generator(1);
  const rounds = after.map((value, round) => 1 - value / before[round]);
  const draw = () => median(rounds.map(() => rounds[Math.floor(random() * rounds.length)]));
  const { low, high } = middle95(Array.from({ length: 2000 }, draw));
  return { value: median(rounds), spread: (high - low) / 2 };
}

/**
 * Random numbers from 0 to below 1. The same seed gives the same numbers on every machine (mulberry32).
 * @param {number} seed a 32-bit integer
 * @returns {() => number}
 */
export function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
