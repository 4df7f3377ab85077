/** Running again, and longer: what is asked of the engine, from what was asked before. */

import type { AimTarget, Ranking } from "../engine/protocol";
import type { BuildTarget } from "../programs/targets";
import { bestRow, count } from "../text/format";
import { pathsOf } from "./live";
import type { RunRequest } from "./runRequest";

/** What the workspace remembers of its last run. */
export interface LastRun {
  request: RunRequest;
  build?: BuildTarget;
}

/** Whether a profile says anything: a target with data, of any progress point. */
export function hasAnswer(rankings: readonly Pick<Ranking, "rows">[]): boolean {
  return rankings.some(({ rows }) => bestRow(rows) !== undefined);
}

const aMinute = 60;

/** Seconds for a run that continues another: twice as long, at least a minute. `null` stays without a limit. */
export function longerDuration(before: number | null): number | null {
  return before === null ? null : Math.max(aMinute, 2 * before);
}

/** What to say when a run ended without an answer, and what can be done. */
export interface NoAnswer {
  message: string;
  next: "longer" | "progress" | "none";
}

/**
 * @param experiments of all targets together
 * @param notes why the result is weaker than it could be
 * @param kept the title of earlier results that stay open
 */
export function noAnswer(
  outcome: { exit: string; notes: readonly string[] },
  experiments: number,
  kept: string | undefined,
): NoAnswer {
  const { exit, notes } = outcome;
  const stays = kept === undefined ? "" : ` The results of ${kept} stay open.`;
  const unvisited = notes.find((note) => /No progress point was visited/.test(note));
  if (unvisited !== undefined) {
    const message = `${exit} It passed no progress point, so nothing could be measured. Choose what counts as progress, and run again.`;
    return { message: message + stays, next: "progress" };
  }
  if (experiments > 0) {
    const message = `${exit} After ${count(experiments, "experiment")} no line has enough data for an answer. Run it longer: it continues where it stopped.`;
    return { message: message + stays, next: "longer" };
  }
  const [reason] = notes;
  const next = reason === undefined || /too short for an experiment/.test(reason) ? "longer" : "none";
  return { message: `${exit} ${reason ?? "It gave too little data. Run it longer."}${stays}`, next };
}

/** How a run was asked for, by its run.json. `undefined` when that says too little, or is of another kind. */
export function requestOfManifest(text: string): RunRequest | undefined {
  let manifest: Record<string, unknown>;
  try {
    manifest = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const options = (manifest.options ?? {}) as Record<string, unknown>;
  const program = textOf(options.program) ?? textOf(manifest.command);
  const cwd = textOf(manifest.cwd);
  if (manifest.kind !== "causal" || program === undefined || cwd === undefined) {
    return undefined;
  }
  return {
    program,
    args: textsOf(manifest.arguments),
    cwd,
    durationSeconds: numberOf(options.duration),
    until: numberOf(options.until),
    aim: {
      ...targetOf(textOf(options.target) ?? "line"),
      sourceScope: textsOf(options.sourceScope),
      binaryScope: textsOf(options.binaryScope),
    },
    progress: textsOf(options.progress),
    maxOverhead: numberOf(options.maxOverhead),
    endToEnd: options.endToEnd === true ? { runs: numberOf(options.runs) } : null,
  };
}

/** As the engine writes it: `function`, `path:A > B, path:C`. */
function targetOf(text: string): { target: AimTarget; paths: string[] } {
  if (text.startsWith("path:")) {
    return { target: "path", paths: pathsOf(text).map((path) => path.replace(/^path:/, "")) };
  }
  const kinds: readonly AimTarget[] = ["line", "function", "inclusive", "blocked"];
  return { target: kinds.find((kind) => kind === text) ?? "line", paths: [] };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((it) => typeof it === "string") : [];
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
