/** The Runs view's rows: which runs belong together, and what each row says, without the view. */
import { constants } from "node:os";
import * as path from "node:path";
import type { RunEntry } from "../engine/protocol";
import { costText } from "../text/cost";
import { baseName, count } from "../text/format";
import { loopName } from "../trace/runs";

/** A run of its own, or an iteration of a refine loop. */
export interface RunRow {
  type: "run";
  /** Its folder. */
  file: string;
  run: RunEntry;
}

/** The runs of a refine loop. */
export interface LoopRow {
  type: "loop";
  /** The folder of its last iteration, which has the whole table. */
  file: string;
  /** The first iteration first. */
  runs: RunRow[];
  /** The editor knows that the loop goes on, even between two runs. */
  going: boolean;
}

export type RunNode = RunRow | LoopRow;

/** Rows, the newest first. A loop is where its newest iteration would be, with its iterations below it. */
export function runNodes(entries: readonly RunEntry[], goingLoop?: string): RunNode[] {
  const newest = [...entries].sort((a, b) => startOf(b) - startOf(a));
  const byPath = new Map(newest.map((run) => [run.path, run]));
  const taken = new Set<RunEntry>();
  const nodes: RunNode[] = [];
  for (const run of newest) {
    if (taken.has(run)) {
      continue;
    }
    const runs: RunEntry[] = [];
    for (let at: RunEntry | undefined = run; at !== undefined && !taken.has(at); at = before(at, byPath)) {
      taken.add(at);
      runs.unshift(at);
    }
    const rows = runs.map((it): RunRow => ({ type: "run", file: it.path, run: it }));
    if (run.iteration === null) {
      nodes.push(...rows);
    } else {
      const going = runs.some((it) => it.ended === "running" || it.path === goingLoop);
      nodes.push({ type: "loop", file: run.path, runs: rows, going });
    }
  }
  return nodes;
}

/** The iteration before one. A workspace may have been moved since, so a run of that name in the same store counts. */
function before(run: RunEntry, byPath: ReadonlyMap<string, RunEntry>): RunEntry | undefined {
  const previous = run.iteration?.previous;
  if (previous === undefined || previous === null) {
    return undefined;
  }
  const found = byPath.get(path.join(path.dirname(run.path), baseName(previous))) ?? byPath.get(previous);
  return found?.iteration === null ? undefined : found;
}

/** Every run below some rows, each once. */
export function runsOf(nodes: readonly RunNode[]): RunEntry[] {
  return [...new Set(nodes.flatMap((node) => (node.type === "run" ? [node.run] : node.runs.map((row) => row.run))))];
}

/** A row's identity while the list changes. */
export function idOf(node: RunNode): string {
  return node.type === "run" ? node.file : `loop:${node.runs[0]?.file}`;
}

export function isGoing(node: RunNode): boolean {
  return node.type === "run" ? node.run.ended === "running" : node.going;
}

/** What menus ask for: `run.causal`, `run.events`, `loop`…, with `.going` while it is recorded. */
export function contextOf(node: RunNode): string {
  const kind = node.type === "loop" ? "loop" : node.run.iteration === null ? `run.${node.run.kind}` : "run.iteration";
  return isGoing(node) ? `${kind}.going` : kind;
}

/** The name of a codicon, by the kind and whether the run goes on. */
export function iconOf(node: RunNode): string {
  if (isGoing(node)) {
    return "loading~spin";
  }
  if (node.type === "loop") {
    return "filter";
  }
  return { causal: "graph-line", events: "list-tree", transactions: "type-hierarchy", unknown: "question" }[
    node.run.kind
  ];
}

export function labelOf(node: RunNode): string {
  if (node.type === "loop") {
    const run = node.runs[0]?.run;
    return run === undefined ? "" : loopName(run.name);
  }
  return node.run.iteration === null ? node.run.name : `Iteration ${node.run.iteration.number}`;
}

/** The muted part of a row: `14:05 · stopped · 1.2 MB`. */
export function descriptionOf(node: RunNode, now: Date, locale?: string): string {
  return describe(node, now, locale).parts.filter(Boolean).join(" · ");
}

/** The row for screen readers. */
export function spokenOf(node: RunNode, now: Date, locale?: string): string {
  const { kind, parts } = describe(node, now, locale);
  return [labelOf(node), kind, ...parts].filter(Boolean).join(", ");
}

function describe(node: RunNode, now: Date, locale?: string) {
  if (node.type === "run") {
    const { run } = node;
    const size = run.bytes === null ? "" : costText(run.bytes, "bytes");
    return { kind: kindText(run), parts: [whenText(run.start, now, locale), endedText(run), size] };
  }
  const last = (node.runs.at(-1) as RunRow).run;
  const state = node.going ? "running" : last.ended === "exited" && last.exitCode === 0 ? "" : endedText(last);
  const size = sizeOf(node.runs.map((row) => row.run));
  const iterations = count(node.runs.length, "iteration");
  return {
    kind: "refine loop",
    parts: [iterations, whenText(last.start, now, locale), state, size === null ? "" : costText(size, "bytes")],
  };
}

export function kindText(run: RunEntry): string {
  const kind = {
    causal: "causal profile",
    events: "event trace",
    transactions: "transactional profile",
    unknown: "unknown kind",
  }[run.kind];
  return run.iteration === null ? kind : `${kind}, iteration ${run.iteration.number} of a refine loop`;
}

/** How a run ended, as text. */
export function endedText(run: RunEntry): string {
  switch (run.ended) {
    case "running":
      return "running";
    case "exited":
      return run.exitCode === null || run.exitCode === 0 ? "ended normally" : `ended with status ${run.exitCode}`;
    case "signalled":
      return run.signal === null ? "ended by a signal" : `ended by ${signalName(run.signal)}`;
    case "stopped":
      return "stopped";
    case "lost":
      return "recording cut off";
  }
}

function signalName(number: number): string {
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [];
  return name ?? `signal ${number}`;
}

/** `14:05` today, `21 Nov, 14:05` this year, `21 Nov 2025, 14:05` before; empty when it is not known. */
export function whenText(start: string, now: Date, locale?: string): string {
  const time = new Date(start);
  if (Number.isNaN(time.getTime())) {
    return "";
  }
  const today = time.toDateString() === now.toDateString();
  const year = time.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  return time.toLocaleString(locale, {
    ...(today ? {} : { day: "numeric", month: "short", ...year }),
    hour: "2-digit",
    minute: "2-digit",
    // Narrow, and the same width for all.
    hourCycle: "h23",
  });
}

/** All of them together; null when one of them is not known. */
export function sizeOf(runs: readonly RunEntry[]): number | null {
  return runs.reduce<number | null>((sum, run) => (sum === null || run.bytes === null ? null : sum + run.bytes), 0);
}

function startOf(run: RunEntry): number {
  const start = Date.parse(run.start);
  return Number.isNaN(start) ? 0 : start;
}
