/**
 * Colours of a flame graph: fixed for each kind of theme, since a canvas cannot inherit them, and checked for contrast.
 *
 * Labels take Okabe and Ito's colours, differences go from blue (less) over grey to orange (more): both can be told apart
 * with any colour vision, and differences carry their sign as text too.
 */
import { hash } from "../hash";
import type { ThemeKind } from "../shapes";

export interface Paint {
  fill: string;
  text: string;
}

export interface FlameTheme {
  background: string;
  /** Around the selected box. */
  focus: string;
  /** Around every box; null: a gap does. */
  border: string | null;
  match: Paint;
  /** A box that nothing special is known of, by the hash of its name. */
  plain: readonly Paint[];
  /** The same while there are labels or a search, which shall stand out. */
  muted: Paint;
  labels: readonly Paint[];
  /** From "much less" to "much more"; the middle one is "the same". */
  differences: readonly Paint[];
}

const black = "#101418";
const white = "#ffffff";

const labels: readonly Paint[] = [
  { fill: "#e69f00", text: black },
  { fill: "#56b4e9", text: black },
  { fill: "#009e73", text: black },
  { fill: "#f0e442", text: black },
  { fill: "#cc79a7", text: black },
  { fill: "#d55e00", text: black },
  { fill: "#0072b2", text: white },
  { fill: "#b3b3b3", text: black },
];

const dark: FlameTheme = {
  background: "#1f1f1f",
  focus: "#ffffff",
  border: null,
  match: { fill: "#f7d774", text: black },
  plain: paints(["#6b4a3a", "#75523a", "#6e5a3c", "#5f4238", "#7a4f44", "#64503f"], "#f4efe9"),
  muted: { fill: "#3b4046", text: "#d8dde2" },
  labels,
  differences: [
    { fill: "#5aa9e6", text: black },
    { fill: "#3876a9", text: white },
    { fill: "#2f5675", text: white },
    { fill: "#44494f", text: "#e6e9ec" },
    { fill: "#7a4a1c", text: white },
    { fill: "#d98324", text: black },
    { fill: "#fdb863", text: black },
  ],
};

const light: FlameTheme = {
  background: "#ffffff",
  focus: "#000000",
  border: null,
  match: { fill: "#ffd43b", text: black },
  plain: paints(["#f6d5b5", "#f3c9a5", "#f8ddc2", "#eec7b0", "#f5cfae", "#f0d9bd"], black),
  muted: { fill: "#e6e9ec", text: "#2a3036" },
  labels,
  differences: [
    { fill: "#2b6cb0", text: white },
    { fill: "#6ba6dc", text: black },
    { fill: "#bcd9f2", text: black },
    { fill: "#e6e9ec", text: "#2a3036" },
    { fill: "#fbd9ae", text: black },
    { fill: "#f2a24a", text: black },
    { fill: "#b35806", text: white },
  ],
};

/** Only borders and black or white, except where colour carries a meaning. */
const highContrast: FlameTheme = {
  ...dark,
  background: "#000000",
  focus: "#f38518",
  border: "#6fc3df",
  plain: paints(["#000000"], white),
  muted: { fill: "#000000", text: white },
  differences: dark.differences.map((paint, n) => (n === 3 ? { fill: "#000000", text: white } : paint)),
};

const highContrastLight: FlameTheme = {
  ...light,
  focus: "#006bbd",
  border: "#0f4a85",
  plain: paints(["#ffffff"], "#000000"),
  muted: { fill: "#ffffff", text: "#000000" },
  differences: light.differences.map((paint, n) => (n === 3 ? { fill: "#ffffff", text: "#000000" } : paint)),
};

export const flameThemes: Readonly<Record<ThemeKind, FlameTheme>> = { dark, light, highContrast, highContrastLight };

export interface BoxLook {
  name: string;
  /** -1: none. */
  label: number;
  /** A − B as a fraction of what {@link FlameLook.most} stands for; null: not a comparison. */
  delta: number | null;
  /** The search names it; null: there is no search. */
  matches: boolean | null;
}

/** How to paint a box. A match comes first, then a label, then a difference. */
export function paintOf(look: BoxLook, theme: FlameTheme, hasLabels: boolean): Paint {
  if (look.matches === true) {
    return theme.match;
  }
  if (look.matches === false) {
    return theme.muted;
  }
  if (look.delta !== null) {
    return pick(theme.differences, differenceStep(look.delta) + 3);
  }
  if (look.label >= 0) {
    return labelPaint(theme, look.label);
  }
  return hasLabels ? theme.muted : pick(theme.plain, hash(look.name) % theme.plain.length);
}

export function labelPaint(theme: FlameTheme, label: number): Paint {
  return pick(theme.labels, label % theme.labels.length);
}

/** -3 to 3: how strongly a difference shows. `delta` is a fraction of the greatest difference. */
export function differenceStep(delta: number): number {
  const size = Math.abs(delta);
  const step = size < 0.004 ? 0 : size < 0.05 ? 1 : size < 0.25 ? 2 : 3;
  return delta < 0 ? -step : step;
}

function paints(fills: readonly string[], text: string): Paint[] {
  return fills.map((fill) => ({ fill, text }));
}

function pick(from: readonly Paint[], index: number): Paint {
  const paint = from[index];
  if (paint === undefined) {
    throw new RangeError(`There is no paint ${index} among ${from.length}.`);
  }
  return paint;
}
