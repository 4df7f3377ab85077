/** Runs as the editor sees them: a manifest that appears or changes in `.fulcrum/runs`. */
import * as path from "node:path";
import type { RunEntry } from "./protocol";

/** Finished: the run will not change any more. */
export function isFinishedManifest(text: string): boolean {
  try {
    const manifest: unknown = JSON.parse(text);
    const ended = (manifest as { ended?: unknown } | null)?.ended;
    return typeof ended === "string" && ended !== "running";
  } catch {
    return false;
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
