/** The two repairs of Whodunit §8.4, predicted by `fulcrum transactions what-if` from the shop as it was. */
import { typeName } from "./account.mjs";

/** How long the servlets keep what they found (samples/bookstore/src/bookstore/Cache.java), in milliseconds. */
const A_WHILE = 30_000;

/** Options for the waits that vanish when `item` locks rows: those for locks of tables. */
export const item = ["--at", "thr_multi_lock"];

/** Options for the work that vanishes when results are kept, of the share that `asked` would have found kept. */
export function cache(asked) {
  const skipped = [...shares(asked)].flatMap(([name, share]) => ["--skip", `${typeName(name)}=${share.toFixed(4)}`]);
  return [...skipped, "--in", "mariadbd"];
}

/** Options without which nothing vanishes: the answer has the times as they are, with their intervals. */
export const nothing = ["--skip", `${typeName("Home")}=0`, "--in", "mariadbd"];

/**
 * The share of requests that would have found their results kept, by interaction, if those before had kept theirs.
 * @param {{ name: string, query: string, from: number, to: number }[]} asked when in milliseconds
 * @returns {Map<string, number>}
 */
export function shares(asked) {
  /** When results were found, by what was asked. */
  const found = new Map();
  const counts = new Map();
  for (const { name, query, from, to } of [...asked].sort((a, b) => a.from - b.from)) {
    const key = `${name}?${query}`;
    const lasts = isForEver(query) ? Number.POSITIVE_INFINITY : A_WHILE;
    const before = found.get(key) ?? [];
    const isHit = before.some((at) => at <= from && from < at + lasts);
    if (!isHit) {
      found.set(key, [...before, to]);
    }
    const { hits, all } = counts.get(name) ?? { hits: 0, all: 0 };
    counts.set(name, { hits: hits + Number(isHit), all: all + 1 });
  }
  return new Map([...counts].map(([name, { hits, all }]) => [name, hits / all]));
}

/** Searches by title and author. */
function isForEver(query) {
  return /^by=(title|author)&/.test(query);
}

/** Times and CPU time of a page, by interaction, in milliseconds. `of` is "now" or "predicted". */
export function pages({ types }, of) {
  const cpu = of === "now" ? "cpuNs" : "predictedCpuNs";
  const ms = ({ ns, lowNs, highNs }) => ({ value: ns / 1e6, low: (lowNs ?? ns) / 1e6, high: (highNs ?? ns) / 1e6 });
  return Object.fromEntries(
    types.map((it) => [it.name, { mean: ms(it[of].mean), p95: ms(it[of].p95), cpu: it[cpu] / it.count / 1e6 }]),
  );
}
