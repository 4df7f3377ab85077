/** Functions' costs compared by name. */

/**
 * @typedef {object} Cost
 * @property {string} name
 * @property {number} self
 * @property {number} [total] absent where the other tool estimates it
 */

/**
 * How many numbers were compared, and how the two differ, a sentence each. Of a name that several functions have, only their own
 * costs are compared: they may call one another, and then their totals have no sum.
 * @param {Cost[]} ours
 * @param {Cost[]} theirs
 * @param {number} scale what one of theirs is in units of ours
 * @param {number} slack units by which ours may be less: fractions that were cut off, one a sample
 */
export function compareFunctions(ours, theirs, scale, slack = 0) {
  const [one, other] = [byName(ours), byName(theirs)];
  const differences = [];
  let numbers = 0;
  const none = { self: 0, total: 0 };
  for (const name of new Set([...one.keys(), ...other.keys()])) {
    const [a, b] = [one.get(name) ?? none, other.get(name) ?? none];
    for (const cost of ["self", "total"]) {
      if (a[cost] === undefined || b[cost] === undefined) {
        continue;
      }
      numbers += 1;
      const wanted = b[cost] * scale;
      // Theirs are floating-point numbers: half of our unit is the least that either can tell.
      if (Math.abs(a[cost] - wanted) > Math.max(0.5, Math.abs(wanted) * 1e-9, slack)) {
        differences.push(`${name}, ${cost}: ${a[cost]}, the peer says ${wanted}`);
      }
    }
  }
  return { numbers, differences };
}

/** @param {Cost[]} functions */
function byName(functions) {
  const sums = new Map();
  for (const { name, self, total } of functions) {
    const before = sums.get(name);
    sums.set(name, before === undefined ? { self, total } : { self: before.self + self, total: undefined });
  }
  return sums;
}
