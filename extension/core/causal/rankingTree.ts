/** The ranking view's rows: what each item says, without the view. */

import type { Ranking, RankingRow, SpeedupPoint, TargetKind } from "../engine/protocol";
import { count, escapeMarkdown, signedPercent, slopeText } from "../text/format";

export interface RankingGroup {
  /** `null`: the profile has one progress point, and no group heading is needed. */
  progressPoint: string | null;
  kind: string | null;
  rows: RankingRow[];
}

export interface RankingModel {
  groups: RankingGroup[];
  notes: string[];
}

/** One group a progress point; a heading only where there are several. Notes are listed once. */
export function rankingModel(rankings: readonly Ranking[]): RankingModel {
  const several = rankings.length > 1;
  return {
    groups: rankings.map((ranking) => ({
      progressPoint: several ? ranking.progressPoint : null,
      kind: several
        ? (ranking.progressPoints.find((point) => point.name === ranking.progressPoint)?.kind ?? null)
        : null,
      rows: ranking.rows,
    })),
    notes: [...new Set(rankings.flatMap((ranking) => ranking.notes))],
  };
}

/** The Ranking's message when none of its rows has an answer. */
export function hollowMessage(
  rankings: readonly Pick<Ranking, "rows">[],
  canRunLonger: boolean,
  notes: number,
): string {
  if (rankings.every(({ rows }) => rows.length === 0)) {
    const why = notes > 0 ? "The notes below say why." : "A longer run gives more data.";
    return `No line of this profile has a result. ${why}`;
  }
  const how = canRunLonger
    ? "Run Longer, in the status bar, continues where it stopped."
    : "A longer run gives more data.";
  return `No line has enough data for an answer yet. ${how}`;
}

/** `+5 % if 2× faster`, the same number as beside the code, and what else the reader must know at a glance. */
export function rowDescription(row: RankingRow): string {
  const remarks = [
    row.text,
    row.state === "stale" ? "line changed" : "",
    row.uri === null ? "not in the workspace" : "",
  ];
  return remarks.filter((remark) => remark !== "").join(" · ");
}

/** Markdown for the tooltip of a row. */
export function rowTooltip(row: RankingRow): string {
  const lines = [`**${escapeMarkdown(row.label)}**: ${escapeMarkdown(row.text)}`, ""];
  const what = { line: "this line", function: "it", path: "it", blocked: "the wait" }[row.kind];
  lines.push(`- Slope ${slopeText(row)}: the program's speedup in percent for each 100 % of speedup of ${what}.`);
  if (row.largest !== null) {
    lines.push(`- Largest measured effect: ${pointText(row.largest, row.kind)}`);
  }
  lines.push(`- ${count(row.experiments, "experiment")}`);
  for (const caution of row.cautions) {
    lines.push(`- ${escapeMarkdown(caution)}`);
  }
  if (row.contention) {
    lines.push("- Contention: making this line faster makes the program slower.");
  }
  if (row.state === "moved") {
    lines.push("- The line moved since it was measured.");
  }
  if (row.state === "stale") {
    lines.push("- The line changed since it was measured.");
  }
  lines.push("", `\`${row.location}\``);
  return lines.join("\n");
}

/** The row as one line of plain text, for the clipboard and screen readers. */
export function rowPlainText(row: RankingRow): string {
  const what = row.kind === "line" ? row.location : `${row.label}, ${row.location}`;
  return `${what}: ${row.text}, slope ${slopeText(row)}, ${count(row.experiments, "experiment")}`;
}

function pointText(point: SpeedupPoint, kind: TargetKind): string {
  const interval =
    point.low === null || point.high === null ? "" : ` (${signedPercent(point.low)} to ${signedPercent(point.high)})`;
  const changed = {
    line: "the line faster",
    function: "it faster",
    path: "it faster",
    blocked: "the wait shorter",
  }[kind];
  return `${signedPercent(point.programSpeedup)}${interval} with ${changed} by ${Math.round(point.speedup * 100)}\u00a0%`;
}
