/** What the colours of a flame graph mean. */
import { type FlameTheme, flameTheme, labelPaint, type Paint } from "../core/flame/colours";
import type { FlameShown } from "../core/flame/messages";
import { h } from "./dom";
import { themeKind, themeReader } from "./theme";

/** Boxes carry the number of their label; in a comparison the colour tells what changed. */
export function legendOf({ comparison, labels }: FlameShown): HTMLElement[] {
  const theme = flameTheme(themeKind(), themeReader());
  const paint = (label: number) => (comparison ? theme.muted : labelPaint(theme, label));
  const tags = labels.map((name, n) => h("span", { class: "tag" }, swatch(paint(n), `#${n + 1}`), name));
  return comparison ? [scaleOf(theme), ...tags] : tags;
}

function scaleOf(theme: FlameTheme): HTMLElement {
  return h(
    "span",
    { class: "scale", attrs: { role: "img", "aria-label": "Blue: less in A. Orange: more in A." } },
    "− less in A ",
    ...theme.differences.map((paint) => swatch(paint, "")),
    " more in A +",
  );
}

function swatch(paint: Paint, text: string): HTMLElement {
  return h("span", { class: "swatch", text, style: { background: paint.fill, color: paint.text } });
}
