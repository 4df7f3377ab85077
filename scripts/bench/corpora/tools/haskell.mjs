/**
 * GHC's `+RTS -pj`: costs added up along its tree; of what was recorded here, also what GHC's own report says of another run of
 * the same program, which enters and allocates the same. Ticks differ from run to run.
 */
import { readFileSync } from "node:fs";
import { compareFunctions } from "../functions.mjs";

export async function haskell(engine) {
  const compare = async ({ file, recording, text }) => {
    const reported = recording === undefined ? undefined : costsReported(readFileSync(recording, "utf8"));
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
      if (reported !== undefined && value !== "ticks") {
        const left = functions
          .filter(({ name }) => !overheads.has(name))
          .map((it) => ({ name: it.name, self: it.base }));
        const report = compareOwn(left, reported[value]);
        all.numbers += report.numbers;
        all.differences.push(...report.differences.map((it) => `${value} in GHC's report: ${it}`));
      }
    }
    return all;
  };
  return { compare, tool: "GHC's own report (recorded here), an independent reading of the tree" };
}

/** Cost centres of the profiler itself, which GHC's report leaves out. */
const overheads = new Set(["PROFILING.OVERHEAD_of", "SYSTEM.SYSTEM", "GC.GC", "IDLE.IDLE", "SYSTEM.PINNED"]);

/** Own costs by name on both sides. A cost centre without any is the same as none. */
function compareOwn(ours, theirs) {
  const mine = new Map(ours.map(({ name, self }) => [name, self]));
  const names = new Set([...mine.keys(), ...theirs.keys()]);
  const differences = [...names]
    .map((name) => [name, mine.get(name) ?? 0, theirs.get(name) ?? 0])
    .filter(([, own, reported]) => own !== reported)
    .map(([name, own, reported]) => `${name}: ${own}, not ${reported}`);
  return { numbers: names.size, differences };
}

/**
 * The entries and allocated bytes of each cost centre by `+RTS -P`, added up over all places in the tree.
 * @param {string} text
 * @returns {{ entries: Map<string, number>, alloc: Map<string, number> }}
 */
export function costsReported(text) {
  const found = { entries: new Map(), alloc: new Map() };
  const add = (sums, name, value) => sums.set(name, (sums.get(name) ?? 0) + Number(value));
  // Label, module, source, number, entries, four shares, ticks, bytes.
  const row = /^ *(\S+) +(\S+) +.*? +\d+ +(\d+)(?: +[\d.]+){4} +\d+ +(\d+)$/gm;
  for (const [, label, module, entries, bytes] of text.matchAll(row)) {
    add(found.entries, `${module}.${label}`, entries);
    add(found.alloc, `${module}.${label}`, bytes);
  }
  return found;
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
