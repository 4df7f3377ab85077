/**
 * Hot lines in the gutter: shapes of the same family as those of causal results, and not to be taken for them. Those are
 * lines that rise or fall; these are bars that stand on a floor, or hang from it where a comparison says "cheaper".
 */
import type { NavigatorHeat, NavigatorLine } from "./protocol";
import { gutterSize, type ThemeKind } from "./shapes";

export const heats: readonly Exclude<NavigatorHeat, "cold">[] = [
  ...(["hot1", "hot2", "hot3", "hot4"] as const),
  ...(["less1", "less2", "less3"] as const),
];

/** How many of the four bars are filled. */
const filled: Readonly<Record<Exclude<NavigatorHeat, "cold">, number>> = {
  hot1: 1,
  hot2: 2,
  hot3: 3,
  hot4: 4,
  less1: 1,
  less2: 2,
  less3: 3,
};

const palettes: Readonly<Record<ThemeKind, { hot: string; less: string; empty: string; stale: string }>> = {
  dark: { hot: "#f0925f", less: "#6cb6f5", empty: "#5b6169", stale: "#6b7178" },
  light: { hot: "#b3440f", less: "#1f6fb2", empty: "#c3c8cd", stale: "#a7adb4" },
  highContrast: { hot: "#ffb58f", less: "#9bd0ff", empty: "#7a7f85", stale: "#b4b9bf" },
  highContrastLight: { hot: "#7a2a05", less: "#0b4477", empty: "#8a9199", stale: "#6a7178" },
};

/** A square SVG document. `stale` draws every bar as an outline. */
export function heatSvg(
  heat: Exclude<NavigatorHeat, "cold">,
  theme: ThemeKind,
  stale: boolean,
  size = gutterSize,
): string {
  const palette = palettes[theme];
  const hanging = heat.startsWith("less");
  const colour = stale ? palette.stale : hanging ? palette.less : palette.hot;
  const bars = [0, 1, 2, 3].map((n) => {
    const height = 4 + n * 3;
    const y = hanging ? 3 : 16 - height;
    const box = `x="${2.5 + n * 3.75}" y="${y}" width="2.75" height="${height}"`;
    if (n >= filled[heat]) {
      return `<rect ${box} fill="${palette.empty}" fill-opacity=".45"/>`;
    }
    return stale
      ? `<rect ${box} fill="none" stroke="${colour}" stroke-dasharray="1.5 1"/>`
      : `<rect ${box} fill="${colour}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 19 19">${bars.join("")}</svg>`;
}

export function heatDataUri(
  heat: Exclude<NavigatorHeat, "cold">,
  theme: ThemeKind,
  stale: boolean,
  size = gutterSize,
): string {
  const svg = heatSvg(heat, theme, stale, size);
  return `data:image/svg+xml;base64,${Buffer.from(svg, "utf8").toString("base64")}`;
}

/** Two functions can meet on a line: the more costly one is shown. Cold ones are not. */
export function hottestOfEachLine(
  lines: readonly NavigatorLine[],
): (NavigatorLine & { heat: Exclude<NavigatorHeat, "cold"> })[] {
  const best = new Map<number, NavigatorLine>();
  const size = (line: NavigatorLine) => Math.max(Math.abs(line.baseShare), Math.abs(line.cumShare) / 10);
  for (const line of lines) {
    const other = best.get(line.line);
    if (line.heat !== "cold" && (other === undefined || size(line) > size(other))) {
      best.set(line.line, line);
    }
  }
  return [...best.values()] as (NavigatorLine & { heat: Exclude<NavigatorHeat, "cold"> })[];
}

/** What the gutter shows, for the status bar: the two kinds of result are never shown together. */
export type GutterSource = "causal" | "profile";

export function gutterSentence(source: GutterSource, title: string): string {
  return source === "causal"
    ? `The gutter shows causal results of ${title}: what a faster line would do.`
    : `The gutter shows where ${title} spends its cost.`;
}
