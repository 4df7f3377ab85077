/** Runs as the editor sees them: a manifest that appears or changes in `.fulcrum/runs`. */
import { readdir, stat } from "node:fs/promises";
import * as path from "node:path";
import type { RunEntry, RunKind } from "../engine/protocol";
import { isEventLog } from "../trace/runs";

/** When a run ended, in milliseconds since 1970; `undefined` for one that is still going, or a manifest that is damaged. */
export function finishedAt(manifest: string): number | undefined {
  try {
    const { ended, end } = JSON.parse(manifest) as { ended?: unknown; end?: unknown };
    const time = typeof end === "string" ? Date.parse(end) : Number.NaN;
    return typeof ended === "string" && ended !== "running" && !Number.isNaN(time) ? time : undefined;
  } catch {
    return undefined;
  }
}

/** The newest causal profile by start time; `startedAfter` is in milliseconds since 1970. */
export function newestRun(runs: readonly RunEntry[], startedAfter?: number): RunEntry | undefined {
  return newestRuns(runs, startedAfter)[0];
}

/** The causal profiles by start time, the newest first. */
export function newestRuns(runs: readonly RunEntry[], startedAfter = Number.NEGATIVE_INFINITY): RunEntry[] {
  const startOf = (run: RunEntry) => Date.parse(run.start) || 0;
  const causal = runs.filter((run) => run.kind === "causal" && startOf(run) > startedAfter);
  return causal.sort((a, b) => startOf(b) - startOf(a));
}

/** Two runs in the order of their recording: by the time in their names, else by when they were written. */
export async function olderFirst([a, b]: [string, string]): Promise<[string, string]> {
  const times = await Promise.all([a, b].map(recordedAt));
  return (times[0] ?? 0) <= (times[1] ?? 0) ? [a, b] : [b, a];
}

async function recordedAt(file: string): Promise<number> {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(path.basename(file)) ?? [];
  if (second !== undefined) {
    return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  }
  try {
    return (await stat(file)).mtimeMs;
  } catch {
    return 0;
  }
}

/** The folder of a run from its folder, its manifest or one of its files; any other path as it is. */
export function runFolderOf(file: string): string {
  const parent = path.dirname(file);
  const isRun =
    path.basename(path.dirname(parent)) === "runs" && path.basename(path.dirname(path.dirname(parent))) === ".fulcrum";
  return isRun ? parent : file;
}

/** Whether a file is the log of one process of a transactional profile. */
export function isTransactionLog(file: string): boolean {
  return file.endsWith(".txlog");
}

/** Whether a run's folder holds a transactional profile, of its own or stitched of others. */
export async function isTransactionRun(folder: string): Promise<boolean> {
  try {
    const names = await readdir(folder);
    return names.some(isTransactionLog) || names.includes("parts");
  } catch {
    return false;
  }
}

/** What a run is by the names of the files in its folder. */
export function kindOfFiles(names: readonly string[]): RunKind {
  if (names.some(isEventLog)) {
    return "events";
  }
  if (names.some(isTransactionLog)) {
    return "transactions";
  }
  return names.some((name) => /^causal-.*\.jsonl$/.test(name)) ? "causal" : "unknown";
}
