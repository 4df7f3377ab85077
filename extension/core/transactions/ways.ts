/** One transaction's way on a timeline: a lane for each thread that worked for it, in the order of their first work. */

import type { TransactionStay, TransactionsOpened, TransactionWay } from "../engine/protocol";
import { hash } from "../hash";
import { costText } from "../text/cost";
import { type Tick, ticks } from "../trace/timeline";
import { stageName } from "./types";

/** Looks that stages have, by the hash of their names. */
const looks = 6;

export interface WayBar {
  /** Where it begins and how long it is, parts of the whole width. */
  left: number;
  width: number;
  stage: string;
  /** Which of six looks. */
  look: number;
  /** For a tooltip and screen readers. */
  spoken: string;
  /** Its place in the way: 0 for the first stay. */
  order: number;
  /** The function to go to; null when none is known. */
  source: string | null;
}

export interface WayLane {
  /** `mysqld, connection`. */
  name: string;
  /** `process 12, thread 14`. */
  numbers: string;
  bars: WayBar[];
}

export interface WayPicture {
  lanes: WayLane[];
  /** Round moments, with where they are. */
  ticks: (Tick & { left: number })[];
  /** How long it took, as text. */
  summary: string;
  /** What is not shown of it, a sentence; null: nothing. */
  cut: string | null;
}

/** Names of the types that have ways, in the order of `shown`. */
export function typesWithWays(opened: TransactionsOpened): string[] {
  const have = new Set(opened.ways.map((way) => way.type));
  return opened.shown.types.map((type) => type.name).filter((name) => have.has(name));
}

/** Those of a type, the slowest first. */
export function waysOf(opened: TransactionsOpened, type: string): TransactionWay[] {
  return opened.ways.filter((way) => way.type === type).sort((a, b) => b.wallNs - a.wallNs);
}

/** How those of a type were chosen, a sentence; null when all are there. */
export function drawnText(opened: TransactionsOpened, type: string): string | null {
  const all = opened.shown.types.find((it) => it.name === type)?.count ?? 0;
  const there = waysOf(opened, type).length;
  return there >= all
    ? null
    : `${there.toLocaleString("en-US")} of ${all.toLocaleString("en-US")} transactions can be chosen: the slowest, and a random sample of the others.`;
}

/** `38.2 ms, 3 threads`: in a list of ways. */
export function wayText(way: TransactionWay): string {
  const threads = new Set(way.stays.map(threadOf)).size;
  const parts = [costText(way.wallNs, "ns"), `${threads} ${threads === 1 ? "thread" : "threads"}`];
  return [...parts, ...(way.replied ? [] : ["no reply"])].join(", ");
}

export function wayPicture(way: TransactionWay, width = 900): WayPicture {
  const left = Math.min(0, ...way.stays.map((stay) => stay.fromNs));
  const right = Math.max(left + 1, way.wallNs, ...way.stays.map((stay) => stay.toNs));
  const at = (ns: number) => (ns - left) / (right - left);
  const lanes = new Map<string, WayLane>();
  for (const [order, stay] of way.stays.entries()) {
    const key = threadOf(stay);
    const lane = lanes.get(key) ?? {
      name: stageName(stay),
      numbers: `process ${stay.pid}, thread ${stay.tid}`,
      bars: [],
    };
    lanes.set(key, lane);
    lane.bars.push(barOf(stay, at, lane.name, order));
  }
  const stays = way.stays.length + way.leftOut;
  return {
    lanes: [...lanes.values()],
    ticks: ticks({ left, right }, width).map((tick) => ({ ...tick, left: at(tick.at) })),
    summary: `${way.type}: ${wayText(way)}, ${costText(way.beganNs, "ns")} after the first transaction that is shown.${traceText(way)}`,
    cut:
      way.leftOut === 0
        ? null
        : `Only its first stays are shown, ${way.stays.length.toLocaleString("en-US")} of ${stays.toLocaleString("en-US")}.`,
  };
}

/** The trace that its requests brought: the second part of `traceparent`, and the span in which it was asked for. */
function traceText(way: TransactionWay): string {
  const [, trace, parent] = way.traceParent?.split("-") ?? [];
  return trace === undefined || parent === undefined
    ? ""
    : ` It belongs to trace ${trace}, with parent span ${parent}.`;
}

function barOf(stay: TransactionStay, at: (ns: number) => number, lane: string, order: number): WayBar {
  const length = Math.max(stay.toNs - stay.fromNs, 0);
  const stage = stay.stage === "" ? "not known" : stay.stage;
  return {
    left: at(stay.fromNs),
    width: at(stay.fromNs + length) - at(stay.fromNs),
    stage,
    look: hash(stage) % looks,
    order,
    source: stay.source,
    spoken: `${stage} in ${lane}: ${costText(length, "ns")}, from ${costText(stay.fromNs, "ns")} on`,
  };
}

function threadOf(stay: TransactionStay): string {
  return `${stay.pid} ${stay.tid}`;
}
