/** Massif's snapshots, as `ms_print` of Valgrind prints them. */
import { which } from "../../../lib/steps.mjs";
import { runChild } from "../../lib/children.mjs";
import { compareFunctions } from "../functions.mjs";
import { costsOfStacks, stacksOf } from "./trees.mjs";
import { functionAt } from "./valgrind.mjs";

export async function massif(engine) {
  if (which("ms_print") === undefined) {
    return undefined;
  }
  const { stdout } = await runChild(["valgrind", "--version"]);
  const compare = async ({ file, info }) => {
    const printed = await runChild(["ms_print", "--threshold=0", file]);
    const snapshots = snapshotsOf(printed.stdout);
    const all = { numbers: 0, differences: [] };
    for (const [index, { name, total }] of info.valueTypes.entries()) {
      const theirs = snapshots.get(name);
      const { functions } = await engine.top(file, index + 1);
      const ours = functions.map((it) => ({ name: it.name, self: it.base, total: it.cum }));
      const { numbers, differences } = compareFunctions(
        [{ name: "", self: total }, ...ours],
        [{ name: "", self: theirs?.heap ?? 0 }, ...(theirs?.functions ?? [])],
        1,
      );
      all.numbers += numbers;
      all.differences.push(...differences.map((it) => `${name}: ${it}`));
    }
    return all;
  };
  return { compare, tool: `ms_print of ${stdout.trim()}` };
}

/**
 * The detailed snapshots, by the names that our value types have.
 * @param {string} printed
 * @returns {Map<string, { heap: number, functions: import("../functions.mjs").Cost[] }>}
 */
export function snapshotsOf(printed) {
  const peak = /(\d+) \(peak\)/.exec(printed)?.[1];
  const found = new Map();
  let row;
  let open = [];
  for (const line of printed.split("\n")) {
    const numbers = /^ *(\d+) +([\d,]+) +([\d,]+) +([\d,]+) +[\d,]+ +[\d,]+$/.exec(line);
    row = numbers === null ? row : { number: numbers[1], heap: number(numbers[4]) };
    const heading = /^\d+\.\d+% \(([\d,]+)B\) \(heap allocation functions\)/.exec(line);
    if (heading !== null) {
      const tree = { name: "", cost: number(heading[1]), callers: [] };
      found.set(row.number === peak ? "peak" : `snapshot ${row.number}`, { heap: row.heap, tree });
      open = [tree];
    }
    const node = /^(?<indent>(?:[| ] )*)->\d+\.\d+% \((?<bytes>[\d,]+)B\) (?<place>.*)$/.exec(line)?.groups;
    if (node !== undefined) {
      const depth = node.indent.length / 2;
      const caller = { name: nameOf(node.place), cost: number(node.bytes), callers: [] };
      open[depth].callers.push(caller);
      open = [...open.slice(0, depth + 1), caller];
    }
  }
  return new Map(
    [...found].map(([name, { heap, tree }]) => [name, { heap, functions: costsOfStacks(stacksOf(tree.callers)) }]),
  );
}

function number(text) {
  return Number(text.replaceAll(",", ""));
}

/** `in 3 places, all below massif's threshold`, or a place in a program. */
function nameOf(place) {
  return /^in \d+ places?,/.test(place) ? "[below threshold]" : functionAt(place);
}
