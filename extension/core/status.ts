/** What the one status bar item says, if anything. */
import { bestRow } from "./format";
import type { ProfileSummary, RankingRow } from "./protocol";

export interface StatusInput {
  engine: "idle" | "running" | "restarting" | "failed";
  /** The last progress message of a run that is going on; `null` when none is. */
  run: { program: string; message: string } | null;
  summary: ProfileSummary | null;
  rows: readonly RankingRow[];
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
    return {
      text: `$(sync~spin) ${input.run.message === "" ? "Fulcrum: starting" : input.run.message}`,
      tooltip: `Fulcrum is profiling ${input.run.program}. Click to stop and see the results.`,
      error: false,
    };
  }
  if (input.summary === null) {
    return undefined;
  }
  const best = bestRow(input.rows);
  return {
    text: best === undefined ? "$(graph-line) No result yet" : `$(graph-line) ${best.label} ${best.text}`,
    tooltip: `Fulcrum: ${input.summary.title}`,
    error: false,
  };
}
