/** The types of transactions as rows of a table, with their stages below them. */

import type { TransactionStage, TransactionsShown, TransactionType } from "../engine/protocol";
import { barWidth, costText, pathText, shareText } from "../text/cost";

export const typeColumns = ["name", "cpu", "count", "p50", "p95", "p99", "waited"] as const;
export type TypeColumn = (typeof typeColumns)[number];

export interface TypeOrder {
  column: TypeColumn;
  /** The largest first, or the last of the alphabet. */
  descending: boolean;
}

export const firstOrder: TypeOrder = { column: "cpu", descending: true };

/** Shown for what is not known. */
const unknown = "–";

export interface TypeRow {
  /** Tells it apart from all others. */
  key: string;
  /** 1 for a type, 2 for one of its stages. */
  level: 1 | 2;
  name: string;
  /** What its contexts begin with, for a type. */
  context: string;
  /** Of all CPU time, 0 to 1: the width of its bar. */
  share: number;
  shareText: string;
  cpu: string;
  count: string;
  p50: string;
  p95: string;
  p99: string;
  waited: string;
  /** Whether its stages are below it; null when it has none. */
  open: boolean | null;
  /** For screen readers. */
  spoken: string;
}

/** The order after a click on a column: reversed, or that column's usual order. */
export function nextOrder(order: TypeOrder, column: TypeColumn): TypeOrder {
  return order.column === column
    ? { column, descending: !order.descending }
    : { column, descending: column !== "name" };
}

/** Rows in an order. Stages follow their type, if it is open, the most expensive first. */
export function typeRows(shown: TransactionsShown, order: TypeOrder, open: ReadonlySet<string>): TypeRow[] {
  return sorted(shown.types, order).flatMap((type) => {
    const isOpen = type.stages.length === 0 ? null : open.has(type.name);
    const row = typeRow(type, isOpen);
    return isOpen === true ? [row, ...type.stages.map((stage, n) => stageRow(type, stage, n))] : [row];
  });
}

/** What is not known comes last, whichever way round. */
function sorted(types: readonly TransactionType[], { column, descending }: TypeOrder): TransactionType[] {
  const sign = descending ? -1 : 1;
  return [...types].sort((a, b) => {
    const [x, y] = [columnValue(a, column), columnValue(b, column)];
    if (x === y) {
      return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
    }
    if (x === null || y === null) {
      return x === null ? 1 : -1;
    }
    return x < y ? -sign : sign;
  });
}

function columnValue(type: TransactionType, column: TypeColumn): number | string | null {
  switch (column) {
    case "name":
      return type.name;
    case "cpu":
      return type.cpuNs;
    case "count":
      return type.count;
    case "p50":
      return type.wallP50Ns;
    case "p95":
      return type.wallP95Ns;
    case "p99":
      return type.wallP99Ns;
    case "waited":
      return type.waitNs;
  }
}

function typeRow(type: TransactionType, open: boolean | null): TypeRow {
  const row = {
    key: type.name,
    level: 1,
    name: type.name,
    context: pathText(type.context),
    share: barWidth(type.cpuShare),
    shareText: shareText(type.cpuShare),
    cpu: costText(type.cpuNs, "ns"),
    count: type.count === 0 ? unknown : type.count.toLocaleString("en-US"),
    p50: timeText(type.wallP50Ns),
    p95: timeText(type.wallP95Ns),
    p99: timeText(type.wallP99Ns),
    waited: type.waitNs === 0 ? unknown : costText(type.waitNs, "ns"),
    open,
  } as const;
  const parts = [`${row.name}: ${row.shareText} of CPU time, ${row.cpu}`];
  if (type.count > 0) {
    parts.push(`${row.count} transactions, median ${row.p50}, 95 % within ${row.p95}, 99 % within ${row.p99}`);
  }
  if (type.unreplied > 0) {
    parts.push(`${type.unreplied.toLocaleString("en-US")} without a reply`);
  }
  if (type.waitNs > 0) {
    parts.push(`waited ${row.waited} for others`);
  }
  return { ...row, spoken: parts.join(", ") };
}

function stageRow(type: TransactionType, stage: TransactionStage, n: number): TypeRow {
  const name = stageName(stage);
  const [share, cpu] = [shareText(stage.cpuShare), costText(stage.cpuNs, "ns")];
  return {
    ...{ key: `${type.name}\n${n}`, level: 2, name, context: "" },
    ...{ share: barWidth(stage.cpuShare), shareText: share, cpu },
    ...{ count: "", p50: "", p95: "", p99: "", waited: "", open: null },
    spoken: `${name}, a stage of ${type.name}: ${share} of CPU time, ${cpu}`,
  };
}

/** `mysqld, connection`, or the program alone when its thread has no name of its own: of those the kernel keeps 15 letters. */
export function stageName({ process, thread }: { process: string; thread: string }): string {
  return thread === "" || thread === process.slice(0, 15) ? process : `${process}, ${thread}`;
}

function timeText(ns: number | null): string {
  return ns === null ? unknown : costText(ns, "ns");
}

/** One sentence on top: `12 types of transactions, 3.20 s of CPU time, 1.10 s of waiting for each other.` */
export function summaryText(shown: TransactionsShown, waitNs: number): string {
  const types = shown.types.length;
  const parts = [`${types.toLocaleString("en-US")} ${types === 1 ? "type" : "types"} of transactions`];
  parts.push(`${costText(shown.totalCpuNs, "ns")} of CPU time`);
  if (waitNs > 0) {
    parts.push(`${costText(waitNs, "ns")} of waiting at locks`);
  }
  return `${parts.join(", ")}.`;
}
