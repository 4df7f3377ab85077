/** What the one status bar item says, if anything. */

import type { ProfileSummary, RankingRow } from "../engine/protocol";
import { gutterSentence } from "../profiles/hotLines";
import { shortTitle } from "../profiles/titles";
import { bestRow } from "../text/format";
import { aimText, isPaused, type RunState } from "./live";

export interface StatusInput {
  engine: "idle" | "running" | "restarting" | "failed";
  /** A run that is going on; `null` when none is. */
  run: RunState | null;
  summary: ProfileSummary | null;
  rows: readonly RankingRow[];
  /** The profile whose hot lines the gutter shows in place of causal results; null: it shows causal results. */
  hotLinesOf: { title: string; comparison: boolean } | null;
}

export interface StatusText {
  text: string;
  tooltip: string;
  error: boolean;
}

/** `undefined`: nothing to say, hide the item. */
export function statusText(input: StatusInput): StatusText | undefined {
  if (input.engine === "failed") {
    return {
      text: "$(error) Fulcrum",
      tooltip: "Fulcrum's engine keeps stopping. Click for the log and a restart.",
      error: true,
    };
  }
  if (input.run !== null) {
    const { live, message, program } = input.run;
    const target = live === null ? "" : ` (${aimText(live.aim)})`;
    return {
      text: `${isPaused(input.run) ? "$(debug-pause)" : "$(sync~spin)"} ${message === "" ? "Fulcrum: starting" : message}`,
      tooltip: `Fulcrum is profiling ${program}${target}. Click to pause, stop, or change what is tested.`,
      error: false,
    };
  }
  if (input.hotLinesOf !== null) {
    const { title, comparison } = input.hotLinesOf;
    const short = shortTitle(title, 50);
    return {
      text: comparison ? `$(diff) Difference: ${short}` : `$(flame) Hot lines: ${short}`,
      tooltip: `Fulcrum: ${gutterSentence("profile", title, comparison)}`,
      error: false,
    };
  }
  if (input.summary === null) {
    return undefined;
  }
  const best = bestRow(input.rows);
  return {
    text: best === undefined ? "$(graph-line) No result yet" : `$(graph-line) ${best.label} ${best.text}`,
    tooltip: `Fulcrum: ${gutterSentence("causal", input.summary.title)}`,
    error: false,
  };
}

/** The button beside the item: run again, or go on with what has no answer yet. `undefined`: nothing to run. */
export function againText(input: {
  running: boolean;
  open: boolean;
  isHollow: boolean;
  program: string | undefined;
}): Pick<StatusText, "text" | "tooltip"> | undefined {
  if (input.running || !input.open) {
    return undefined;
  }
  if (input.isHollow) {
    return {
      text: "$(debug-continue) Run Longer",
      tooltip: "Fulcrum: no line has an answer yet. Continue where this run stopped.",
    };
  }
  return input.program === undefined
    ? undefined
    : { text: "$(debug-rerun)", tooltip: `Fulcrum: run ${input.program} under the causal profiler again` };
}
