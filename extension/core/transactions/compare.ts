/** The types of two runs as a table. A is the run after the change, B the base. */

import type {
  TransactionsCompared,
  TransactionsComparedType,
  TransactionsDifference,
  TransactionsTypeCost,
} from "../engine/protocol";
import { costText, differenceText } from "../text/cost";
import { count } from "../text/format";

export interface ComparedCell {
  /** `+285 µs`; empty where there is nothing to compare. */
  text: string;
  /** `costlier`, `cheaper`, `noise`; null without a difference. */
  verdict: "more" | "less" | "noise" | null;
  /** The interval and p, for a tooltip. */
  title: string;
}

export interface ComparedRow {
  name: string;
  countA: string;
  countB: string;
  cpuA: string;
  cpuB: string;
  cpu: ComparedCell;
  wallA: string;
  wallB: string;
  wall: ComparedCell;
  /** Both runs have it: it can be compared in the Navigator. Else the one that has it: there it can be searched. */
  in: "both" | "a" | "b";
  spoken: string;
}

export interface ComparedTypes {
  a: string;
  b: string;
  /** `3 of 12 types differ in CPU time, 1 is only in A.` */
  summary: string;
  rows: ComparedRow[];
  notes: readonly string[];
}

export type ToTransactionsCompare =
  | { type: "loading"; a: string; b: string; message: string }
  | { type: "trouble"; text: string }
  | { type: "show"; compared: ComparedTypes };
export type FromTransactionsCompare =
  | { type: "ready" }
  | { type: "swap" }
  | { type: "again" }
  | { type: "run"; side: "a" | "b" }
  | { type: "compare"; of: string; in: ComparedRow["in"] };

const unknown = "–";

export function comparedTypes(a: string, b: string, found: TransactionsCompared): ComparedTypes {
  const rows = found.types.map(rowOf);
  return { a, b, summary: summaryOf(found.types), rows, notes: found.notes };
}

function rowOf(type: TransactionsComparedType): ComparedRow {
  const { name, a, b } = type;
  const cpu = cellOf(type.cpu);
  const wall = cellOf(type.wall);
  const row = {
    ...{ name, countA: countOf(a), countB: countOf(b), cpu, wall },
    ...{ cpuA: mean(a?.cpuMeanNs), cpuB: mean(b?.cpuMeanNs), wallA: mean(a?.wallMeanNs), wallB: mean(b?.wallMeanNs) },
    in: b === null ? "a" : a === null ? "b" : "both",
  } as const;
  const parts = [`${name}: ${row.countA} transactions in A, ${row.countB} in B`];
  if (type.cpu !== null) {
    parts.push(`CPU time of one ${row.cpuA} in A, ${row.cpuB} in B, ${cpu.text}, ${cpu.title}`);
  }
  if (type.wall !== null) {
    parts.push(`wall time of one ${row.wallA} in A, ${row.wallB} in B, ${wall.text}, ${wall.title}`);
  }
  return { ...row, spoken: parts.join("; ") };
}

function countOf(side: TransactionsTypeCost | null): string {
  return side === null ? unknown : side.transactions.toLocaleString("en-US");
}

function mean(ns: number | null | undefined): string {
  return ns == null ? unknown : costText(ns, "ns");
}

function cellOf(difference: TransactionsDifference | null): ComparedCell {
  if (difference === null) {
    return { text: "", verdict: null, title: "" };
  }
  const { ns, lowNs, highNs, p, significant } = difference;
  const text = differenceText(ns, "ns");
  const chance = p < 0.001 ? "p < 0.001" : `p = ${p.toPrecision(2)}`;
  const interval = `95 % interval ${differenceText(lowNs, "ns")} to ${differenceText(highNs, "ns")}, ${chance}`;
  const verdict = !significant ? "noise" : ns > 0 ? "more" : "less";
  return { text, verdict, title: `${interval}: ${significant ? "more than noise" : "may be noise"}` };
}

function summaryOf(types: readonly TransactionsComparedType[]): string {
  const differ = types.filter((type) => type.cpu?.significant === true).length;
  const parts = [`${differ.toLocaleString("en-US")} of ${count(types.length, "type")} differ in CPU time`];
  const only = (side: "A" | "B", number: number) =>
    number === 0 ? [] : [`${number.toLocaleString("en-US")} only in ${side}`];
  parts.push(...only("A", types.filter((type) => type.b === null).length));
  parts.push(...only("B", types.filter((type) => type.a === null).length));
  return `${parts.join(", ")}.`;
}
