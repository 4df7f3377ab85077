/** Colours of a flame graph: those of the theme, read for each picture, since a canvas cannot inherit them. */
import { hash } from "../hash";
import { type ColourId, type ReadColour, readableOn, type ThemeKind } from "../themeColours";

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
  /** The same while there are labels or a search, which must stand out. */
  muted: Paint;
  labels: readonly Paint[];
  /** From "much less" to "much more"; the middle one is "the same". */
  differences: readonly Paint[];
}

/** With the colours of the theme that the editor has now. */
export function flameTheme(kind: ThemeKind, read: ReadColour): FlameTheme {
  const paint = (id: ColourId): Paint => ({ fill: read(id), text: readableOn(read(id)) });
  return {
    background: read("editor.background"),
    focus: read("fulcrum.selectionBorder"),
    border: kind.startsWith("highContrast") ? read("contrastBorder") : null,
    match: paint("fulcrum.match"),
    plain: boxes.map(paint),
    muted: paint("fulcrum.flameMuted"),
    labels: labels.map(paint),
    differences: differences.map(paint),
  };
}

const labels = [
  ...(["fulcrum.label1", "fulcrum.label2", "fulcrum.label3", "fulcrum.label4"] as const),
  ...(["fulcrum.label5", "fulcrum.label6", "fulcrum.label7", "fulcrum.label8"] as const),
];
const boxes = [
  ...(["fulcrum.flame1", "fulcrum.flame2", "fulcrum.flame3"] as const),
  ...(["fulcrum.flame4", "fulcrum.flame5", "fulcrum.flame6"] as const),
];
const differences = [
  ...(["fulcrum.flameMuchCheaper", "fulcrum.flameCheaper", "fulcrum.flameLittleCheaper"] as const),
  "fulcrum.flameSame",
  ...(["fulcrum.flameLittleCostlier", "fulcrum.flameCostlier", "fulcrum.flameMuchCostlier"] as const),
] as const;

export interface BoxLook {
  name: string;
  /** -1: none. */
  label: number;
  /** A − B as a fraction of {@link FlameLook.most}; null: not a comparison. */
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

function pick(from: readonly Paint[], index: number): Paint {
  const paint = from[index];
  if (paint === undefined) {
    throw new RangeError(`There is no paint ${index} among ${from.length}.`);
  }
  return paint;
}
