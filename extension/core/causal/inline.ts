/** Which lines of a document carry text at their end, and which are marked in the overview ruler. */
import type { LineSpeedup } from "../engine/protocol";
import { type Tone, toneOf } from "./shapes";

export type InlineMode = "currentAndBest" | "current" | "off";

/** How many lines of a profile get text and a mark in the ruler. More would melt into one bar. */
export const bestLines = 10;

export interface InlineText {
  /** 0-based line in the document. */
  line: number;
  text: string;
  tone: Tone | "stale";
}

/** Texts for the lines with a cursor and, when asked, for the best lines of the profile that lie in this document. */
export function inlineTexts(
  lines: readonly LineSpeedup[],
  cursorLines: readonly number[],
  mode: InlineMode,
): InlineText[] {
  if (mode === "off") {
    return [];
  }
  const cursors = new Set(cursorLines);
  return lines
    .filter(
      (line) =>
        cursors.has(line.line) || (mode === "currentAndBest" && line.rank <= bestLines && line.shape !== "unknown"),
    )
    .map((line) => ({
      line: line.line,
      text: line.state === "stale" ? `${line.text} (line changed since)` : line.text,
      tone: line.state === "stale" ? "stale" : toneOf(line.shape),
    }));
}

/** After edits two recorded lines can meet on one line: the better ranked one is shown, a fresh one before a stale one. */
export function bestOfEachLine(lines: readonly LineSpeedup[]): LineSpeedup[] {
  const order = (line: LineSpeedup) => (line.state === "stale" ? 1e9 : 0) + line.rank;
  return firstOfEachLine(lines, (a, b) => order(a) - order(b));
}

/** Of all results on one line, the first in an order. */
export function firstOfEachLine<T extends { line: number }>(lines: readonly T[], order: (a: T, b: T) => number): T[] {
  const first = new Map<number, T>();
  for (const line of lines) {
    const other = first.get(line.line);
    if (other === undefined || order(line, other) < 0) {
      first.set(line.line, line);
    }
  }
  return [...first.values()];
}

export interface RulerMark {
  line: number;
  tone: "gain" | "harm";
}

/** The best gains and the lines with contention; at most {@link bestLines} of each. */
export function rulerMarks(lines: readonly LineSpeedup[]): RulerMark[] {
  const marks: RulerMark[] = [];
  const known = lines.filter((line) => line.state !== "stale");
  for (const line of known.filter((line) => line.rank <= bestLines && toneOf(line.shape) === "gain")) {
    marks.push({ line: line.line, tone: "gain" });
  }
  const harms = known.filter((line) => toneOf(line.shape) === "harm").sort((a, b) => a.slope - b.slope);
  for (const line of harms.slice(0, bestLines)) {
    marks.push({ line: line.line, tone: "harm" });
  }
  return marks;
}
