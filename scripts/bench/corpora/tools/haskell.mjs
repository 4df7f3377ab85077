/** GHC's `+RTS -pj`: costs added up along its tree. An independent reading: nothing that reads them could be had here. */
import { compareFunctions } from "../functions.mjs";

export async function haskell(engine) {
  const compare = async ({ file, text }) => {
    const profile = JSON.parse(text);
    const all = { numbers: 0, differences: [] };
    for (const value of ["ticks", "alloc", "entries"]) {
      const { functions } = await engine.top(file, value);
      const { numbers, differences } = compareFunctions(
        functions.map((it) => ({ name: it.name, self: it.base, total: it.cum })),
        centresOf(profile, value),
        1,
      );
      all.numbers += numbers;
      all.differences.push(...differences.map((it) => `${value}: ${it}`));
    }
    return all;
  };
  return { compare, tool: "an independent reading of the tree" };
}

/**
 * What each cost centre costs alone and with what it enters.
 * @param {{ cost_centres: any[], profile: any }} report
 * @param {"ticks" | "alloc" | "entries"} value
 * @returns {import("../functions.mjs").Cost[]}
 */
export function centresOf({ cost_centres: centres, profile }, value) {
  const names = new Map(centres.map(({ id, module, label }) => [id, `${module}.${label}`]));
  const found = new Map();
  const visit = (node, above) => {
    const name = names.get(node.id);
    const known = found.get(name) ?? { name, self: 0, total: 0 };
    found.set(name, known);
    const inside = new Set(above).add(name);
    const whole = node.children.reduce((sum, child) => sum + visit(child, inside), node[value]);
    known.self += node[value];
    known.total += above.has(name) ? 0 : whole;
    return whole;
  };
  visit(profile, new Set());
  return [...found.values()];
}
