/** Rows of a trace, for reading and for screen readers: threads first, events below. */

import type { EventsOpened, EventsPart, EventsRow, EventsThread } from "../engine/protocol";
import { costText } from "../text/cost";
import { count } from "../text/format";

/** A row of the tree: a thread at the top, an event below. */
export type TraceRow =
  | { kind: "thread"; thread: EventsThread; children: number }
  | { kind: "event"; event: EventsRow; children: number };

export interface Cells {
  name: string;
  /** A call's arguments and return value, where the log has them: `(1, "two") → 3`. */
  values: string;
  /** What kind of event it is, where the name does not say it. */
  tag: string | null;
  start: string;
  wall: string;
  cpu: string;
  self: string;
  queue: string;
}

const tags: Readonly<Partial<Record<EventsRow["kind"], string>>> = {
  contended: "contended",
  wait: "wait",
  gc: "GC",
  allocation: "new",
  release: "released",
  threadStart: "thread start",
  threadEnd: "thread end",
  classLoad: "class loaded",
  classUnload: "class unloaded",
  vmStart: "VM start",
  vmEnd: "VM end",
};

const none = "";

/** The protocol's thread for the virtual machine itself. */
export const virtualMachine = 1;

export function threadRows(trace: EventsOpened): TraceRow[] {
  return trace.threads.map((thread) => ({ kind: "thread", thread, children: thread.rows }));
}

export function eventRow(event: EventsRow): TraceRow {
  return { kind: "event", event, children: event.children };
}

export function threadName(thread: EventsThread): string {
  return thread.name || `thread ${thread.id}`;
}

export function cellsOf(row: TraceRow): Cells {
  if (row.kind === "thread") {
    const { thread } = row;
    return {
      name: threadName(thread),
      values: none,
      tag: count(thread.events, "event"),
      start: momentText(thread.startNs),
      wall: nanoseconds(thread.wallNs),
      cpu: nanoseconds(thread.cpuNs),
      self: none,
      queue: none,
    };
  }
  const { event } = row;
  const ended = { returned: "", thrown: " ⚡", open: " …", lost: " ?" }[event.ended];
  return {
    name: event.values === null ? `${event.name}${ended}` : event.name,
    values: event.values === null ? none : `${event.values.text}${ended}`,
    tag: tags[event.kind] ?? null,
    start: momentText(event.startNs),
    wall: nanoseconds(event.wallNs),
    cpu: nanoseconds(event.cpuNs),
    self: event.kind === "call" ? nanoseconds(event.selfWallNs) : none,
    queue: queueText(event),
  };
}

/** As JPMT writes it: `no. 87 · #3` at a put, `no. 87 · #4 · 749 ms` at a take. */
export function queueText({ queue }: EventsRow): string {
  if (queue === null) {
    return none;
  }
  const number = queue.number === null ? "no. ?" : `no. ${queue.number}`;
  const wait = queue.waitNs === null ? [] : [costText(queue.waitNs, "ns")];
  return [number, `#${queue.length}`, ...wait].join(" · ");
}

/** The row as a screen reader says it, without its place in the tree. */
export function spokenOf(row: TraceRow): string {
  const cells = cellsOf(row);
  if (row.kind === "thread") {
    const cpu = cells.cpu === none ? "" : `, ${cells.cpu} CPU`;
    return `Thread ${cells.name}, ${cells.tag}, ${cells.wall} wall${cpu}`;
  }
  const { event } = row;
  const parts = [cells.tag === null ? event.name : `${cells.tag} ${event.name}`];
  if (event.values !== null) {
    parts[0] += event.values.text;
  }
  if (event.wallNs !== null) {
    parts.push(`${cells.wall} wall`);
  }
  if (event.cpuNs !== null) {
    parts.push(`${cells.cpu} CPU`);
  }
  if (cells.self !== none && event.children > 0) {
    parts.push(`${cells.self} its own`);
  }
  if (event.queue !== null) {
    const { number, length, waitNs } = event.queue;
    parts.push(number === null ? "a request that is not known" : `request ${number}`);
    parts.push(`${length} in the queue`);
    if (waitNs !== null) {
      parts.push(`queued for ${costText(waitNs, "ns")}`);
    }
  }
  const ended = { returned: "", thrown: "left by an exception", open: "not over", lost: "its end is missing" };
  if (ended[event.ended] !== "") {
    parts.push(ended[event.ended]);
  }
  parts.push(`at ${cells.start}`);
  return parts.join(", ");
}

/** More than the cells say: for the tooltip. */
export function titleOf(row: TraceRow): string {
  if (row.kind === "thread") {
    const { thread } = row;
    const group = thread.group === "" ? "" : ` of the group ${thread.group}`;
    return `Thread ${thread.id}${group}, ${momentText(thread.startNs)} to ${momentText(thread.endNs)}`;
  }
  const { event } = row;
  const probes = event.probesNs > 0 ? `\n${costText(event.probesNs, "ns")} that probes cost are subtracted` : "";
  const own = event.selfCpuNs === null ? "" : `\n${costText(event.selfCpuNs, "ns")} CPU of its own`;
  return `${event.name}${event.values?.text ?? ""}${own}${probes}`;
}

/** The part of the trace that a row represents. */
export function partOf(row: TraceRow): EventsPart {
  return row.kind === "thread" ? { thread: row.thread.id } : { thread: row.event.thread, node: row.event.node };
}

/** The time that a row takes, nanoseconds since the log's start. */
export function timeOf(row: TraceRow): { left: number; right: number } {
  return row.kind === "thread"
    ? { left: row.thread.startNs, right: row.thread.endNs }
    : { left: row.event.startNs, right: row.event.startNs + (row.event.wallNs ?? 0) };
}

/** A moment since the log's start, with microseconds as soon as it has seconds no more: `1.234567 s`. */
export function momentText(ns: number): string {
  return `${(ns / 1e9).toFixed(6)}\u00a0s`;
}

function nanoseconds(ns: number | null): string {
  return ns === null ? none : costText(ns, "ns");
}
