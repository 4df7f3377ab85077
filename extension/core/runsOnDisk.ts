/** Runs as the editor sees them: a manifest that appears or changes in `.fulcrum/runs`. */
import * as path from "node:path";
import type { RunEntry } from "./protocol";

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

/** The newest by start time; `startedAfter` is in milliseconds since 1970. */
export function newestRun(runs: readonly RunEntry[], startedAfter?: number): RunEntry | undefined {
  let newest: RunEntry | undefined;
  for (const run of runs) {
    const start = Date.parse(run.start);
    if (startedAfter !== undefined && !(start > startedAfter)) {
      continue;
    }
    if (newest === undefined || start > Date.parse(newest.start)) {
      newest = run;
    }
  }
  return newest;
}

/** The folder of a run from its folder, its manifest or one of its files; any other path as it is. */
export function runFolderOf(file: string): string {
  const parent = path.dirname(file);
  const isRun =
    path.basename(path.dirname(parent)) === "runs" && path.basename(path.dirname(path.dirname(parent))) === ".fulcrum";
  return isRun ? parent : file;
}
