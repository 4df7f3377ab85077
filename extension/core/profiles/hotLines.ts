/**
 * Hot lines in the gutter: shapes of the same family as those of causal results, but distinguishable from them. Those are
 * lines that rise or fall; these are bars. The bars of a comparison are at a line that means "no difference": above it where
 * A costs more, below it where A costs less.
 */
import { bestLines, firstOfEachLine, type InlineMode } from "../causal/inline";
import { gutterSize } from "../causal/shapes";
import type { NavigatorHeat, NavigatorLine } from "../engine/protocol";
import type { Colours } from "../themeColours";

/** Of a line that is shown. */
export type Heat = Exclude<NavigatorHeat, "cold">;
export type HotLine = NavigatorLine & { heat: Heat };

/** What is drawn: in a comparison, a hot line is one that became more expensive. */
export type HotShape = Heat | "more1" | "more2" | "more3" | "more4";
/** The colours of texts. */
export type HotTone = "hot" | "less";

/** How a heat is drawn. */
export function hotShape(heat: Heat, comparison: boolean): HotShape {
  return comparison ? (heat.replace("hot", "more") as HotShape) : heat;
}

/** The colour of a line's text. */
export function hotTone(heat: NavigatorHeat): HotTone {
  return heat.startsWith("less") ? "less" : "hot";
}

/** How many of the four bars are filled. */
function filled(shape: HotShape): number {
  return Number(shape.at(-1));
}

/** A square SVG document. `stale` draws every bar as an outline. */
export function heatSvg(shape: HotShape, colours: Colours, stale: boolean, size = gutterSize): string {
  const hanging = shape.startsWith("less");
  const difference = hanging || shape.startsWith("more");
  const filling = hanging ? "fulcrum.gutterCheaper" : "fulcrum.gutterHot";
  const colour = colours(stale ? "fulcrum.gutterStale" : filling);
  const none = difference ? `<rect x="1.5" y="${hanging ? 2 : 16}" width="16" height="1" fill="${colour}"/>` : "";
  const bars = [0, 1, 2, 3].map((n) => {
    const height = 4 + n * 3;
    const y = hanging ? 3 : 16 - height;
    const box = `x="${2.5 + n * 3.75}" y="${y}" width="2.75" height="${height}"`;
    if (n >= filled(shape)) {
      return `<rect ${box} fill="${colours("fulcrum.gutterEmpty")}" fill-opacity=".45"/>`;
    }
    return stale
      ? `<rect ${box} fill="none" stroke="${colour}" stroke-dasharray="1.5 1"/>`
      : `<rect ${box} fill="${colour}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 19 19">${none}${bars.join("")}</svg>`;
}

export function heatDataUri(shape: HotShape, colours: Colours, stale: boolean, size = gutterSize): string {
  const svg = heatSvg(shape, colours, stale, size);
  return `data:image/svg+xml;base64,${Buffer.from(svg, "utf8").toString("base64")}`;
}

/** Two functions can meet on a line: the more costly one is shown. Cold ones are not. */
export function hottestOfEachLine(lines: readonly NavigatorLine[]): HotLine[] {
  const hot = lines.filter((line): line is HotLine => line.heat !== "cold");
  return firstOfEachLine(hot, byCost);
}

/** The most costly lines that have not changed since, at most {@link bestLines}. */
export function hottest<T extends NavigatorLine>(lines: readonly T[]): T[] {
  return lines
    .filter((line) => line.state !== "stale")
    .sort(byCost)
    .slice(0, bestLines);
}

/** Texts for the lines with a cursor and, when asked, for the hottest. */
export function hotTexts(
  lines: readonly NavigatorLine[],
  cursorLines: readonly number[],
  mode: InlineMode,
): { line: number; text: string; tone: HotTone }[] {
  if (mode === "off") {
    return [];
  }
  const cursors = new Set(cursorLines);
  const best = new Set(mode === "currentAndBest" ? hottest(lines) : []);
  return lines
    .filter((line) => cursors.has(line.line) || best.has(line))
    .map((line) => ({
      line: line.line,
      text: line.state === "stale" ? `${line.text} (changed since)` : line.text,
      tone: hotTone(line.heat),
    }));
}

/** The most costly first; what callees cost counts for a tenth. */
function byCost(a: NavigatorLine, b: NavigatorLine): number {
  const cost = (line: NavigatorLine) => Math.max(Math.abs(line.base), Math.abs(line.cum) / 10);
  return cost(b) - cost(a);
}

/** What is known of one line, as Markdown with a way into the Navigator; undefined: nothing. */
export function hotHover(lines: readonly NavigatorLine[]): string | undefined {
  const texts = lines.map(({ hover, name, state }) => {
    const path = encodeURIComponent(JSON.stringify([[name]]));
    const changed = state === "stale" ? "\n\nThe code changed since this was measured." : "";
    return `${hover}${changed}\n\n[Open in the Navigator](command:fulcrum.navigator.selectPath?${path})`;
  });
  return texts.length === 0 ? undefined : texts.join("\n\n---\n\n");
}

/** What the gutter shows, for the status bar: the two kinds of result are never shown together. */
export type GutterSource = "causal" | "profile";

/** `comparison`: the profile is one of two files. */
export function gutterSentence(source: GutterSource, title: string, comparison = false): string {
  if (source === "causal") {
    return `The gutter shows causal results of ${title}: what a faster line would do.`;
  }
  return comparison
    ? `The gutter shows the difference ${title}: bars stand where A costs more, and hang where it costs less.`
    : `The gutter shows where ${title} spends its cost.`;
}
