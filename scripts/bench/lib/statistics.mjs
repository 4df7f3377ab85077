/** Medians, their spread, and ratios of them. */

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The value below which a part of all values are, by nearest rank. */
export function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)];
}

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The median over rounds of 1 - after / before, with half the width of its 95 % bootstrap interval. Both values of a round
 * were measured close together, so a machine that gets slower over minutes does not count. A fixed seed: the same
 * measurements always give the same table.
 * @param {number[]} before a value a round
 * @param {number[]} after of the same rounds
 * @returns {{ value: number, spread: number }}
 */
export function speedup(before, after) {
  const random = generator(1);
  const rounds = after.map((value, round) => 1 - value / before[round]);
  const draw = () => median(rounds.map(() => rounds[Math.floor(random() * rounds.length)]));
  const draws = Array.from({ length: 2000 }, draw).sort((a, b) => a - b);
  return { value: median(rounds), spread: (draws[1949] - draws[50]) / 2 };
}

/** Uniform in 0..1, reproducible (mulberry32). */
export function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
