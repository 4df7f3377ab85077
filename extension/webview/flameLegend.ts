/** What the colours of a flame graph mean. */
import { flameThemes, labelPaint, type Paint } from "../core/flame/colours";
import type { FlameShown } from "../core/flame/messages";
import { h } from "./dom";
import { themeKind } from "./flamePaint";

export function legendOf(shown: FlameShown): HTMLElement[] {
  const theme = flameThemes[themeKind()];
  if (shown.comparison) {
    const scale = theme.differences.map((paint) => swatch(paint, ""));
    return [
      h(
        "span",
        { class: "scale", attrs: { role: "img", "aria-label": "Blue: less in A. Orange: more in A." } },
        "− less in A ",
        ...scale,
        " more in A +",
      ),
    ];
  }
  return shown.labels.map((name, n) => h("span", { class: "tag" }, swatch(labelPaint(theme, n), String(n + 1)), name));
}

function swatch(paint: Paint, text: string): HTMLElement {
  return h("span", { class: "swatch", text, style: { background: paint.fill, color: paint.text } });
}
