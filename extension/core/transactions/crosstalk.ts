/** Crosstalk as a heat map: rows wait, columns hold (Whodunit §6). */

import type { CrosstalkPair, TransactionsCrosstalk } from "../engine/protocol";
import { costText } from "../text/cost";
import { count } from "../text/format";
import type { SectionOf } from "./messages";
import { type PathPart, pathParts } from "./paths";

/** Rows and columns that are drawn; the types that wait or hold the least are one of them together. */
const most = 30;
/** What those are called. */
export const others = "all others";

export interface CrosstalkCell {
  waiter: string;
  holder: string;
  total: string;
  mean: string;
  count: string;
  /** 0 to 1: by the root of the time, as areas are seen. */
  heat: number;
  /** For screen readers. */
  spoken: string;
}

export interface CrosstalkMatrix {
  /** The longest waits first. */
  waiters: string[];
  /** Those that they waited for the longest first. */
  holders: string[];
  /** By waiter and holder; null: it never waited for that one. */
  cells: (CrosstalkCell | null)[][];
  /** What each waiter waited in all. */
  totals: string[];
}

/** One lock of a pair. */
export interface PairLock {
  lock: string;
  total: string;
  mean: string;
  /** `6 waits`. */
  waits: string;
  paths: { total: string; waiter: PathPart[]; holder: PathPart[] }[];
  /** Which of those that were put together it is; null when the cell has one pair of types. */
  types: string | null;
  /** What the holder's section is worth, as it was measured last. */
  price: { sentence: string; notes: string[] } | null;
  /** What the waiter would gain without these waits; null where that is not known. */
  gain: string | null;
  /** What would be measured; null where that cannot be: a signal has no section, and Java's code is not sped up. */
  section: SectionOf | null;
}

/** Locks that are acquired and released, and so have sections. */
const withSections = new Set(["mutex", "rwlock"]);

/** The heat map; null when no transaction waited. */
export function crosstalkMatrix(crosstalk: TransactionsCrosstalk): CrosstalkMatrix | null {
  if (crosstalk.pairs.length === 0) {
    return null;
  }
  const groups = groupsOf(crosstalk);
  const sums = new Map<string, { waitNs: number; count: number }>();
  for (const pair of crosstalk.pairs) {
    const key = keyOf(groups.waiter(pair), groups.holder(pair));
    const sum = sums.get(key) ?? { waitNs: 0, count: 0 };
    sums.set(key, { waitNs: sum.waitNs + pair.waitNs, count: sum.count + pair.count });
  }
  const largest = [...sums.values()].reduce((most, sum) => Math.max(most, sum.waitNs), 1);
  const cell = (waiter: string, holder: string): CrosstalkCell | null => {
    const sum = sums.get(keyOf(waiter, holder));
    if (sum === undefined) {
      return null;
    }
    const [total, mean] = [costText(sum.waitNs, "ns"), costText(sum.waitNs / Math.max(sum.count, 1), "ns")];
    const spoken = `${waiter} waited ${total} for ${holder}: ${count(sum.count, "time")}, ${mean} on average`;
    const heat = Math.sqrt(sum.waitNs / largest);
    return { waiter, holder, total, mean, count: sum.count.toLocaleString("en-US"), heat, spoken };
  };
  return {
    waiters: groups.waiters,
    holders: groups.holders,
    cells: groups.waiters.map((waiter) => groups.holders.map((holder) => cell(waiter, holder))),
    totals: groups.waiters.map((waiter) =>
      costText(
        totalOf(crosstalk, (pair) => groups.waiter(pair) === waiter),
        "ns",
      ),
    ),
  };
}

/** The locks at which a cell's waiter waited for its holder, the longest waits first. */
export function pairLocks(crosstalk: TransactionsCrosstalk, waiter: string, holder: string): PairLock[] {
  const groups = groupsOf(crosstalk);
  const pairs = crosstalk.pairs.filter((pair) => groups.waiter(pair) === waiter && groups.holder(pair) === holder);
  const several = waiter === others || holder === others;
  return pairs.map((pair) => ({
    lock: `${pair.lock} (${pair.kind})`,
    total: costText(pair.waitNs, "ns"),
    mean: costText(pair.meanNs, "ns"),
    waits: count(pair.count, "wait"),
    paths: pair.paths.map((path) => ({
      total: costText(path.waitNs, "ns"),
      waiter: pathParts(path.waiter === "" ? "not known" : path.waiter, path.waiterFunctions),
      holder: pathParts(path.holder ?? "not known", path.holderFunctions),
    })),
    types: several ? `${pair.waiter} for ${pair.holder}` : null,
    price: pair.price === null ? null : { sentence: pair.price.sentence, notes: pair.price.notes },
    gain: pair.gain?.sentence ?? null,
    section: withSections.has(pair.kind) ? { waiter: pair.waiter, holder: pair.holder, lock: pair.lock } : null,
  }));
}

function groupsOf(crosstalk: TransactionsCrosstalk) {
  const names = (of: (pair: CrosstalkPair) => string) => {
    const waits = new Map<string, number>();
    for (const pair of crosstalk.pairs) {
      waits.set(of(pair), (waits.get(of(pair)) ?? 0) + pair.waitNs);
    }
    const ranked = [...waits].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([name]) => name);
    return ranked.length <= most ? ranked : [...ranked.slice(0, most - 1), others];
  };
  const waiters = names((pair) => pair.waiter);
  const holders = names((pair) => pair.holder);
  const [isWaiter, isHolder] = [new Set(waiters), new Set(holders)];
  return {
    waiters,
    holders,
    waiter: (pair: CrosstalkPair) => (isWaiter.has(pair.waiter) ? pair.waiter : others),
    holder: (pair: CrosstalkPair) => (isHolder.has(pair.holder) ? pair.holder : others),
  };
}

function totalOf(crosstalk: TransactionsCrosstalk, wanted: (pair: CrosstalkPair) => boolean): number {
  return crosstalk.pairs.filter(wanted).reduce((sum, pair) => sum + pair.waitNs, 0);
}

function keyOf(waiter: string, holder: string): string {
  return `${waiter}\n${holder}`;
}
