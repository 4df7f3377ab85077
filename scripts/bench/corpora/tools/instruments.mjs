/**
 * Instruments' copied tables: own weights added up by function, and each row's weight beside the sum of what we read below it.
 * An independent reading of numbers that Instruments printed, because it runs on macOS only.
 */
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
    const rows = rowsOf(text);
    const { functions } = await engine.top(file, 1);
    const own = compareFunctions(
      functions.map((it) => ({ name: it.name, self: it.base })),
      rows.map(({ name, self }) => ({ name, self })),
      1,
    );
    const whole = compareTotals(await engine.folded(file, 1), rows);
    return { numbers: own.numbers + whole.numbers, differences: [...own.differences, ...whole.differences] };
  };
  return { compare, tool: "an independent reading of the table, own weights and totals" };
}

/**
 * The table's rows, from the outermost in. Their own weights are those of the column for it, or else weights without those of
 * the calls; `error` is by how much rounding can part a row's weight from the sum of its own weights.
 * @param {string} text
 * @returns {{ name: string, path: string, weight: number, self: number, error: number }[]}
 */
export function rowsOf(text) {
  const [head, ...lines] = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const column = head.split("\t").findIndex((title) => /^Self/.test(title.trim()));
  const plain = /\((\w+)\)/.exec(head.split("\t")[column] ?? "")?.[1];
  const rows = lines.map((line) => {
    const cells = line.split("\t");
    const symbol = cells.at(-1);
    const weight = amount(cells[0]);
    const own = column < 0 ? undefined : amount(cells[column], plain);
    const depth = symbol.length - symbol.trimStart().length;
    return { depth, name: symbol.trim(), path: "", weight, own, inside: 0, error: weight.half + (own ?? weight).half };
  });
  const open = [];
  for (const row of rows) {
    while (open.length > 0 && open.at(-1).depth >= row.depth) {
      open.pop();
    }
    const caller = open.at(-1);
    if (caller !== undefined) {
      caller.inside += row.weight.value;
    }
    for (const outer of open) {
      outer.error += (row.own ?? row.weight).half;
    }
    open.push(row);
    row.path = open.map(({ name }) => name).join(";");
  }
  return rows.map(({ name, path, weight, own, inside, error }) => {
    const self = Math.max(own?.value ?? weight.value - inside, 0);
    return { name, path, weight: weight.value, self, error };
  });
}

/**
 * Compares each path's cum, summed from folded stacks, with the weight of its rows.
 * @param {string} folded
 * @param {ReturnType<typeof rowsOf>} rows
 */
export function compareTotals(folded, rows) {
  const sums = new Map();
  for (const line of folded.split("\n").filter((it) => it !== "")) {
    const at = line.lastIndexOf(" ");
    const frames = line.slice(0, at).split(";");
    for (const n of frames.keys()) {
      const path = frames.slice(0, n + 1).join(";");
      sums.set(path, (sums.get(path) ?? 0) + Number(line.slice(at + 1)));
    }
  }
  const wanted = new Map();
  for (const { path, weight, error } of rows) {
    const before = wanted.get(path) ?? { weight: 0, error: 0 };
    wanted.set(path, { weight: before.weight + weight, error: before.error + error });
  }
  const differences = [];
  for (const path of new Set([...wanted.keys(), ...sums.keys()])) {
    const { weight, error } = wanted.get(path) ?? { weight: 0, error: 0 };
    const sum = sums.get(path) ?? 0;
    if (Math.abs(sum - weight) > error + 0.5) {
      differences.push(`${path}, total: ${sum}, the table says ${weight} ± ${error}`);
    }
  }
  return { numbers: wanted.size, differences };
}

/**
 * `96.08 Gc  100.0%`, `4273.0ms   99.9%`, `0 s`, `-`, or a number whose unit the column says: its value, and half of its last
 * decimal place.
 */
function amount(cell, plain) {
  const [, number, unit] = /^\s*([\d.,]+)\s*([A-Za-zµ]*)/.exec(cell) ?? [];
  if (number === undefined) {
    return { value: 0, half: 0 };
  }
  const scale = units[unit || plain || "ns"];
  const decimals = number.split(".")[1]?.length ?? 0;
  return { value: Number(number.replaceAll(",", "")) * scale, half: (scale * 10 ** -decimals) / 2 };
}
