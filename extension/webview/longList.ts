/** A list that may have thousands of entries: a long one scrolls in a box of its own, where only those in sight exist. */
import { rowsInSight } from "../core/navigator/virtualList";
import { h } from "./dom";
import { nextFrame } from "./settled";

/** So many entries stand one beside or below the other as they come. */
const few = 30;
const rowHeight = 22;
const rowsShown = 8;
const height = rowHeight * rowsShown;

/** How far each list is scrolled: what is shown is made anew at each step. */
const scrolled = new Map<string, number>();

interface LongList {
  /** Its own among the lists of the page. */
  class: string;
  /** For who does not see it. */
  label: string;
  count: number;
  entry: (index: number) => HTMLElement;
}

/** The list, by its entries as long as there are few. */
export function longList(list: LongList, short: (entries: HTMLElement[]) => HTMLElement): HTMLElement {
  if (list.count <= few) {
    return short(Array.from({ length: list.count }, (_, index) => list.entry(index)));
  }
  const space = h("div", { class: "space", style: { height: `${list.count * rowHeight}px` } });
  const scroller = h(
    "div",
    {
      class: `long ${list.class}`,
      style: { height: `${height}px` },
      attrs: { role: "list", "aria-label": list.label, tabindex: "0" },
    },
    space,
  );
  const draw = () => {
    const place = { scrolled: scroller.scrollTop, height, rowHeight };
    const [first, end] = rowsInSight(list.count, place);
    space.replaceChildren(...Array.from({ length: end - first }, (_, n) => row(list, first + n)));
  };
  let drawing = false;
  scroller.addEventListener("scroll", () => {
    scrolled.set(list.class, scroller.scrollTop);
    if (!drawing) {
      drawing = true;
      nextFrame(() => {
        drawing = false;
        draw();
      });
    }
  });
  draw();
  // What is not on the page yet cannot be scrolled.
  nextFrame(() => {
    scroller.scrollTop = scrolled.get(list.class) ?? 0;
    draw();
  });
  return scroller;
}

function row({ count, entry }: LongList, index: number): HTMLElement {
  return h(
    "div",
    {
      class: "long-row",
      style: { top: `${index * rowHeight}px`, height: `${rowHeight}px` },
      attrs: { role: "listitem", "aria-posinset": String(index + 1), "aria-setsize": String(count) },
    },
    entry(index),
  );
}
