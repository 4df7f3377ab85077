/** How far something is, for eyes and for screen readers. */
import { h } from "./dom";

export class ProgressBar {
  private readonly filled = h("div");
  readonly element: HTMLElement;

  constructor(label: string) {
    this.element = h("div", { attrs: { role: "progressbar", "aria-label": label } }, this.filled);
    this.set(null);
  }

  /** 0 to 1; null: it is not known. */
  set(fraction: number | null): void {
    const percent = fraction === null ? null : Math.round(fraction * 100);
    this.element.className = percent === null ? "progress unknown" : "progress";
    this.filled.style.width = `${percent ?? 30}%`;
    if (percent === null) {
      this.element.removeAttribute("aria-valuenow");
    } else {
      this.element.setAttribute("aria-valuenow", String(percent));
    }
  }
}
