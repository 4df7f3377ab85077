/** Stacks and trees that other tools print, as the costs of functions. */

/**
 * @typedef {object} Tree of callers: the innermost function is outside, those that called it are below
 * @property {string} name
 * @property {number} cost with everything below it
 * @property {Tree[]} callers
 */

/**
 * The stacks of trees of callers.
 * @param {Tree[]} trees
 * @param {string[]} [inner] what is below in the stack
 * @returns {{ frames: string[], cost: number }[]} innermost frame first
 */
export function stacksOf(trees, inner = []) {
  return trees.flatMap(({ name, cost, callers }) => {
    const frames = [...inner, name];
    const rest = cost - callers.reduce((sum, caller) => sum + caller.cost, 0);
    return [{ frames, cost: rest }, ...stacksOf(callers, frames)];
  });
}

/**
 * What each function costs alone and with its callees, out of stacks; a function that calls itself counts once.
 * @param {{ frames: string[], cost: number }[]} stacks innermost frame first
 * @returns {import("../functions.mjs").Cost[]}
 */
export function costsOfStacks(stacks) {
  const costs = new Map();
  for (const { frames, cost } of stacks) {
    for (const name of new Set(frames)) {
      const known = costs.get(name) ?? { name, self: 0, total: 0 };
      known.self += name === frames[0] ? cost : 0;
      known.total += cost;
      costs.set(name, known);
    }
  }
  return [...costs.values()];
}

/** What we call code that has no name: its file. @param {string} file */
export function unnamed(file) {
  const name = file
    .split("/")
    .at(-1)
    .replace(/^\[|\]$/g, "");
  return `[${name || "unknown"}]`;
}
