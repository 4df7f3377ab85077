/** Instruments' copied tables: own weights added up by function. An independent reading, as Instruments runs on macOS only. */
import { compareFunctions } from "../functions.mjs";

const units = {
  ns: 1,
  µs: 1e3,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
  min: 60e9,
  c: 1,
  Kc: 1e3,
  Mc: 1e6,
  Gc: 1e9,
  Bytes: 1,
  KB: 2 ** 10,
  MB: 2 ** 20,
  GB: 2 ** 30,
};

export async function instruments(engine) {
  const compare = async ({ file, text }) => {
    const { functions } = await engine.top(file, 1);
    return compareFunctions(
      functions.map((it) => ({ name: it.name, self: it.base })),
      weightsOf(text),
      1,
    );
  };
  return { compare, tool: "an independent reading of the table" };
}

/**
 * Functions with their own weights: those of the column for it, or else weights without those of the calls.
 * @param {string} text
 * @returns {import("../functions.mjs").Cost[]}
 */
export function weightsOf(text) {
  const [head, ...lines] = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const column = head.split("\t").findIndex((title) => /^Self/.test(title.trim()));
  const plain = /\((\w+)\)/.exec(head.split("\t")[column] ?? "")?.[1];
  const rows = lines.map((line) => {
    const cells = line.split("\t");
    const symbol = cells.at(-1);
    const weight = amount(cells[0]);
    const self = column < 0 ? undefined : amount(cells[column], plain);
    return { depth: symbol.length - symbol.trimStart().length, name: symbol.trim(), weight, self, inside: 0 };
  });
  const open = [];
  for (const row of rows) {
    while (open.length > 0 && open.at(-1).depth >= row.depth) {
      open.pop();
    }
    const caller = open.at(-1);
    if (caller !== undefined) {
      caller.inside += row.weight;
    }
    open.push(row);
  }
  return rows.map(({ name, weight, self, inside }) => ({ name, self: Math.max(self ?? weight - inside, 0) }));
}

/** `96.08 Gc  100.0%`, `4273.0ms   99.9%`, `0 s`, `-`, or a number whose unit the column says. */
function amount(cell, plain) {
  const [, number, unit] = /^\s*([\d.,]+)\s*([A-Za-zµ]*)/.exec(cell) ?? [];
  return number === undefined ? 0 : Number(number.replaceAll(",", "")) * units[unit || plain || "ns"];
}
