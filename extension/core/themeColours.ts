/**
 * Every colour of ours, as themes and people may change it (`workbench.colorCustomizations`). `npm run menus` writes them into
 * the manifest; a page knows them by the editor's names for them, pictures in the gutter are drawn with them.
 *
 * Labels take Okabe and Ito's colours, differences go from blue (less) over grey to orange (more): both can be told apart
 * with any colour vision.
 */

export type ThemeKind = "light" | "dark" | "highContrast" | "highContrastLight";

export interface ThemeColour extends Readonly<Record<ThemeKind, string>> {
  description: string;
}

/** A description of something that the editor does not draw itself. */
const drawn = (what: string) =>
  `${what} Drawn as an image, which a colour theme cannot recolour: to change the colour, set a hexadecimal one in \`workbench.colorCustomizations\`.`;

export const themeColours = {
  "fulcrum.gainForeground": {
    description: "Text at the end of a line whose speedup makes the program faster.",
    ...{ dark: "#7fb8a0", light: "#2f6f57", highContrast: "#a5f3cf", highContrastLight: "#0b4f36" },
  },
  "fulcrum.harmForeground": {
    description: "Text at the end of a line whose speedup makes the program slower.",
    ...{ dark: "#d99a7c", light: "#a1451c", highContrast: "#ffb58f", highContrastLight: "#7a2a05" },
  },
  "fulcrum.flatForeground": {
    description: "Text at the end of a line whose speedup has no effect, or is not known well enough.",
    ...{ dark: "#8a9199", light: "#636c76", highContrast: "#d0d4d8", highContrastLight: "#3c434a" },
  },
  "fulcrum.staleForeground": {
    description: "Text at the end of a line that was changed after the profile was recorded.",
    ...{ dark: "#6b7178", light: "#868e96", highContrast: "#a8adb3", highContrastLight: "#565d64" },
  },
  "fulcrum.hotForeground": {
    description: "Text at the end of a line that shows its share of a profile's cost, or how much costlier it became.",
    ...{ dark: "#d9a07c", light: "#94471c", highContrast: "#ffcbb0", highContrastLight: "#6e2605" },
  },
  "fulcrum.cheaperForeground": {
    description: "Text at the end of a line that shows how much cheaper it became from one profile to another.",
    ...{ dark: "#86b9e6", light: "#1f5f96", highContrast: "#b8dcff", highContrastLight: "#0b4477" },
  },
  "fulcrum.overviewRulerHot": {
    description: "Mark in the overview ruler for the hottest lines of a profile, or those that became costlier.",
    ...{ dark: "#d98324", light: "#c2641a", highContrast: "#ffb58f", highContrastLight: "#7a2a05" },
  },
  "fulcrum.overviewRulerCheaper": {
    description: "Mark in the overview ruler for lines that became cheaper from one profile to another.",
    ...{ dark: "#3d8fd1", light: "#1f6fb2", highContrast: "#9bd0ff", highContrastLight: "#0b4477" },
  },
  "fulcrum.overviewRulerGain": {
    description: "Mark in the overview ruler for the lines with the largest gains.",
    ...{ dark: "#3fa27e", light: "#2f8f6b", highContrast: "#a5f3cf", highContrastLight: "#0b4f36" },
  },
  "fulcrum.overviewRulerHarm": {
    description: "Mark in the overview ruler for lines with contention.",
    ...{ dark: "#c96a3d", light: "#b9531f", highContrast: "#ffb58f", highContrastLight: "#7a2a05" },
  },
  "fulcrum.gutterGain": {
    description: drawn("Shape in the gutter for a line whose speedup makes the program faster."),
    ...{ dark: "#5fd3a4", light: "#13795b", highContrast: "#7dffcb", highContrastLight: "#00513a" },
  },
  "fulcrum.gutterFlat": {
    description: drawn("Shape in the gutter for a line whose speedup has no effect."),
    ...{ dark: "#a3abb4", light: "#5c6670", highContrast: "#ffffff", highContrastLight: "#000000" },
  },
  "fulcrum.gutterHarm": {
    description: drawn("Shape in the gutter for a line whose speedup makes the program slower."),
    ...{ dark: "#f0925f", light: "#b3440f", highContrast: "#ffb58f", highContrastLight: "#7a2a05" },
  },
  "fulcrum.gutterUnknown": {
    description: drawn("Shape in the gutter for a line that is not known well enough."),
    ...{ dark: "#8a929b", light: "#78818a", highContrast: "#ffffff", highContrastLight: "#000000" },
  },
  "fulcrum.gutterStale": {
    description: drawn("Shape in the gutter for a line that was changed after the profile was recorded."),
    ...{ dark: "#6b7178", light: "#a7adb4", highContrast: "#b4b9bf", highContrastLight: "#6a7178" },
  },
  "fulcrum.gutterHot": {
    description: drawn("Bars in the gutter for what a line costs, or how much costlier it became."),
    ...{ dark: "#f0925f", light: "#b3440f", highContrast: "#ffb58f", highContrastLight: "#7a2a05" },
  },
  "fulcrum.gutterCheaper": {
    description: drawn("Bars in the gutter for how much cheaper a line became."),
    ...{ dark: "#6cb6f5", light: "#1f6fb2", highContrast: "#9bd0ff", highContrastLight: "#0b4477" },
  },
  "fulcrum.gutterEmpty": {
    description: drawn("Bars in the gutter that are not filled."),
    ...{ dark: "#5b6169", light: "#c3c8cd", highContrast: "#7a7f85", highContrastLight: "#8a9199" },
  },
  "fulcrum.plotAxis": {
    description: drawn("Axes and labels of the plot in a hover."),
    ...{ dark: "#a3abb4", light: "#57606a", highContrast: "#ffffff", highContrastLight: "#292929" },
  },
  "fulcrum.plotCurve": {
    description: drawn("The curve, its points and its band in the plot of a hover."),
    ...{ dark: "#6cb6f5", light: "#1f6fb2", highContrast: "#9bd0ff", highContrastLight: "#0b4477" },
  },
  "fulcrum.selectionBorder": {
    description: "Around what is selected in a flame graph or on a timeline.",
    ...{ dark: "#ffffff", light: "#000000", highContrast: "#f38518", highContrastLight: "#006bbd" },
  },
  "fulcrum.match": {
    description: "What a search found in a flame graph or on a timeline.",
    ...{ dark: "#f7d774", light: "#ffd43b", highContrast: "#f7d774", highContrastLight: "#ffd43b" },
  },
  "fulcrum.label1": {
    description: "The first label, in the Navigator and in a flame graph.",
    ...{ dark: "#e69f00", light: "#e69f00", highContrast: "#e69f00", highContrastLight: "#e69f00" },
  },
  "fulcrum.label2": {
    description: "The second label, in the Navigator and in a flame graph.",
    ...{ dark: "#56b4e9", light: "#56b4e9", highContrast: "#56b4e9", highContrastLight: "#56b4e9" },
  },
  "fulcrum.label3": {
    description: "The third label, in the Navigator and in a flame graph.",
    ...{ dark: "#009e73", light: "#009e73", highContrast: "#009e73", highContrastLight: "#009e73" },
  },
  "fulcrum.label4": {
    description: "The fourth label, in the Navigator and in a flame graph.",
    ...{ dark: "#f0e442", light: "#f0e442", highContrast: "#f0e442", highContrastLight: "#f0e442" },
  },
  "fulcrum.label5": {
    description: "The fifth label, in the Navigator and in a flame graph.",
    ...{ dark: "#cc79a7", light: "#cc79a7", highContrast: "#cc79a7", highContrastLight: "#cc79a7" },
  },
  "fulcrum.label6": {
    description: "The sixth label, in the Navigator and in a flame graph.",
    ...{ dark: "#d55e00", light: "#d55e00", highContrast: "#d55e00", highContrastLight: "#d55e00" },
  },
  "fulcrum.label7": {
    description: "The seventh label, in the Navigator and in a flame graph.",
    ...{ dark: "#0072b2", light: "#0072b2", highContrast: "#0072b2", highContrastLight: "#0072b2" },
  },
  "fulcrum.label8": {
    description: "The eighth label, in the Navigator and in a flame graph.",
    ...{ dark: "#b3b3b3", light: "#b3b3b3", highContrast: "#b3b3b3", highContrastLight: "#b3b3b3" },
  },
  "fulcrum.costlier": {
    description: "Bars in the Navigator for cost, and for what became costlier.",
    ...{ dark: "#e07f36", light: "#c8610f", highContrast: "#e07f36", highContrastLight: "#c8610f" },
  },
  "fulcrum.cheaper": {
    description: "Bars in the Navigator for what became cheaper.",
    ...{ dark: "#4f9fe8", light: "#1f6fb2", highContrast: "#4f9fe8", highContrastLight: "#1f6fb2" },
  },
  "fulcrum.base": {
    description: "Bars in the Navigator for the own cost of a path.",
    ...{ dark: "#d9b441", light: "#a37c00", highContrast: "#d9b441", highContrastLight: "#a37c00" },
  },
  "fulcrum.flame1": {
    description: "Boxes of a flame graph: each function has one of six colours by its name.",
    ...{ dark: "#6b4a3a", light: "#f6d5b5", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.flame2": {
    description: "Boxes of a flame graph: each function has one of six colours by its name.",
    ...{ dark: "#75523a", light: "#f3c9a5", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.flame3": {
    description: "Boxes of a flame graph: each function has one of six colours by its name.",
    ...{ dark: "#6e5a3c", light: "#f8ddc2", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.flame4": {
    description: "Boxes of a flame graph: each function has one of six colours by its name.",
    ...{ dark: "#5f4238", light: "#eec7b0", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.flame5": {
    description: "Boxes of a flame graph: each function has one of six colours by its name.",
    ...{ dark: "#7a4f44", light: "#f5cfae", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.flame6": {
    description: "Boxes of a flame graph: each function has one of six colours by its name.",
    ...{ dark: "#64503f", light: "#f0d9bd", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.flameMuted": {
    description: "Boxes of a flame graph that step back behind labels or what was searched for.",
    ...{ dark: "#3b4046", light: "#e6e9ec", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.flameMuchCheaper": {
    description: "Boxes of a flame graph of a comparison that became much cheaper.",
    ...{ dark: "#5aa9e6", light: "#2b6cb0", highContrast: "#5aa9e6", highContrastLight: "#2b6cb0" },
  },
  "fulcrum.flameCheaper": {
    description: "Boxes of a flame graph of a comparison that became cheaper.",
    ...{ dark: "#3876a9", light: "#6ba6dc", highContrast: "#3876a9", highContrastLight: "#6ba6dc" },
  },
  "fulcrum.flameLittleCheaper": {
    description: "Boxes of a flame graph of a comparison that became a little cheaper.",
    ...{ dark: "#2f5675", light: "#bcd9f2", highContrast: "#2f5675", highContrastLight: "#bcd9f2" },
  },
  "fulcrum.flameSame": {
    description: "Boxes of a flame graph of a comparison that did not change.",
    ...{ dark: "#44494f", light: "#e6e9ec", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.flameLittleCostlier": {
    description: "Boxes of a flame graph of a comparison that became a little costlier.",
    ...{ dark: "#7a4a1c", light: "#fbd9ae", highContrast: "#7a4a1c", highContrastLight: "#fbd9ae" },
  },
  "fulcrum.flameCostlier": {
    description: "Boxes of a flame graph of a comparison that became costlier.",
    ...{ dark: "#d98324", light: "#f2a24a", highContrast: "#d98324", highContrastLight: "#f2a24a" },
  },
  "fulcrum.flameMuchCostlier": {
    description: "Boxes of a flame graph of a comparison that became much costlier.",
    ...{ dark: "#fdb863", light: "#b35806", highContrast: "#fdb863", highContrastLight: "#b35806" },
  },
  "fulcrum.traceRunning": {
    description: "On a timeline: the thread runs.",
    ...{ dark: "#009e73", light: "#00805d", highContrast: "#009e73", highContrastLight: "#00805d" },
  },
  "fulcrum.traceContended": {
    description: "On a timeline: the thread waits for a monitor that another one owns.",
    ...{ dark: "#e8601c", light: "#c44a00", highContrast: "#e8601c", highContrastLight: "#c44a00" },
  },
  "fulcrum.traceWaiting": {
    description: "On a timeline: the thread waits.",
    ...{ dark: "#56b4e9", light: "#3a8fc4", highContrast: "#56b4e9", highContrastLight: "#3a8fc4" },
  },
  "fulcrum.traceParked": {
    description: "On a timeline: the thread is parked.",
    ...{ dark: "#8a9199", light: "#7b838b", highContrast: "#ffffff", highContrastLight: "#000000" },
  },
  "fulcrum.traceCollection": {
    description: "On a timeline: garbage collections.",
    ...{ dark: "#cc79a7", light: "#a0447c", highContrast: "#cc79a7", highContrastLight: "#a0447c" },
  },
  "fulcrum.traceLine": {
    description: "Lines of a timeline.",
    ...{ dark: "#3b4046", light: "#d5dade", highContrast: "#6fc3df", highContrastLight: "#0f4a85" },
  },
  "fulcrum.traceCall1": {
    description: "Calls on a timeline: each method has one of six colours by its name.",
    ...{ dark: "#3c5a78", light: "#c5d9ec", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.traceCall2": {
    description: "Calls on a timeline: each method has one of six colours by its name.",
    ...{ dark: "#46607a", light: "#cfdcf0", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.traceCall3": {
    description: "Calls on a timeline: each method has one of six colours by its name.",
    ...{ dark: "#35566b", light: "#bcd6e4", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.traceCall4": {
    description: "Calls on a timeline: each method has one of six colours by its name.",
    ...{ dark: "#4a5876", light: "#d3daee", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.traceCall5": {
    description: "Calls on a timeline: each method has one of six colours by its name.",
    ...{ dark: "#3d6a76", light: "#c2e0e4", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
  "fulcrum.traceCall6": {
    description: "Calls on a timeline: each method has one of six colours by its name.",
    ...{ dark: "#53567c", light: "#d8d8f0", highContrast: "#000000", highContrastLight: "#ffffff" },
  },
} as const satisfies Readonly<Record<string, ThemeColour>>;

export type ColourId = keyof typeof themeColours;

/** The colours that the engine draws plots with (docs/protocol.md), and what they mean. */
export const drawnByEngine: Readonly<Record<string, ColourId>> = {
  "#888888": "fulcrum.plotAxis",
  "#4a90d9": "fulcrum.plotCurve",
};

/** What a colour is now: `#rrggbb`, or what else CSS knows. */
export type Colours = (id: ColourId) => string;

/** Reads one of ours, or one of the editor's own: `editor.background`. */
export type ReadColour = (
  id: ColourId | "editor.background" | "foreground" | "descriptionForeground" | "contrastBorder",
) => string;

/**
 * As the user's settings have them.
 * @param customisations the setting `workbench.colorCustomizations`: colours by name, and by theme in brackets more of them
 * @param theme the name of the theme
 */
export function customColours(kind: ThemeKind, customisations: unknown, theme: string): Colours {
  const all = (customisations ?? {}) as Record<string, unknown>;
  const own = Object.entries(all)
    .filter(([name]) => namesTheme(name, theme))
    .map(([, colours]) => colours);
  const wanted = Object.assign({}, all, ...own) as Record<string, unknown>;
  return (id) => {
    const colour = wanted[id];
    return typeof colour === "string" && /^#[0-9a-f]{3,8}$/i.test(colour) ? colour : themeColours[id][kind];
  };
}

/** `[One Theme][Other*]` is about both. */
function namesTheme(name: string, theme: string): boolean {
  return [...name.matchAll(/\[([^\]]+)\]/g)].some(([, wanted = ""]) => {
    const [begin = "", ...rest] = wanted.split("*");
    return rest.length === 0 ? theme === wanted : theme.startsWith(begin);
  });
}

const black = "#101418";
const white = "#ffffff";

/** Black or white, whichever is more readable on a colour as `getComputedStyle` and themes write it. */
export function readableOn(fill: string): string {
  const light = luminance(fill);
  return (light + 0.05) / (luminance(black) + 0.05) >= 1.05 / (light + 0.05) ? black : white;
}

/** WCAG's relative luminance, 0 to 1. */
export function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((it) => {
    const part = it / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Red, green and blue, 0 to 255. */
function channels(colour: string): number[] {
  const [, hex] = /^#([0-9a-f]{3,8})$/i.exec(colour) ?? [];
  if (hex === undefined) {
    return (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
  }
  const digits = hex.length < 6 ? 1 : 2;
  return [0, 1, 2].map((n) => {
    const part = hex.slice(n * digits, (n + 1) * digits);
    return Number.parseInt(part.length === 1 ? part + part : part, 16);
  });
}
