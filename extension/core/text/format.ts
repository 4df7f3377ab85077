/** Numbers as text: percent with a real minus sign and a no-break space, as the engine writes them. */
import type { ProfileSummary, RankingRow } from "../engine/protocol";

const NO_BREAK_SPACE = "\u00a0";
const MINUS = "\u2212";

/** A fraction as signed percent: `0.114` → `+11 %`. One decimal below 10 %; `0 %` has no sign. */
export function signedPercent(fraction: number): string {
  const digits = percentDigits(fraction);
  return `${withSign(digits)}${NO_BREAK_SPACE}%`;
}

/** A slope with its 95 % interval: `+11 % [8, 14]`. Without an interval the slope alone. */
export function slopeText(row: Pick<RankingRow, "slope" | "slopeLow" | "slopeHigh">): string {
  const slope = signedPercent(row.slope);
  if (row.slopeLow === null || row.slopeHigh === null) {
    return slope;
  }
  const low = bare(percentDigits(row.slopeLow));
  const high = bare(percentDigits(row.slopeHigh));
  return `${slope} [${low},${NO_BREAK_SPACE}${high}]`;
}

/** The last part of a path with `/` or `\`. */
export function baseName(path: string): string {
  return path.replace(/[/\\]+$/, "").replace(/^.*[/\\]/, "");
}

/** `1 line`, `2 lines`. */
export function count(amount: number, singular: string, plural = `${singular}s`): string {
  return `${amount}${NO_BREAK_SPACE}${amount === 1 ? singular : plural}`;
}

/** Text that Markdown shows as it is. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+!|<>~-]/g, "\\$&");
}

/** One sentence for the end of a run or after opening a profile. */
export function summarySentence(summary: ProfileSummary, best: RankingRow | undefined): string {
  if (best === undefined) {
    return `${summary.title}: no line has enough data for a prediction yet.`;
  }
  return `${summary.title}: best line ${best.label}, ${best.text}.`;
}

/** The row to name as the best: the first that is known to help, else the first that has data. */
export function bestRow(rows: readonly RankingRow[]): RankingRow | undefined {
  return rows.find((row) => row.shape.startsWith("gain")) ?? rows.find((row) => row.shape !== "unknown");
}

function percentDigits(fraction: number): string {
  const percent = fraction * 100;
  const digits = Math.abs(percent) < 9.95 ? percent.toFixed(1) : percent.toFixed(0);
  return digits.replace(/\.0$/, "");
}

function withSign(digits: string): string {
  const plain = bare(digits);
  return plain === "0" || plain.startsWith(MINUS) ? plain : `+${plain}`;
}

function bare(digits: string): string {
  return digits === "-0" ? "0" : digits.replace("-", MINUS);
}
