/** A box of a flame graph as text: for the line below the graph, the tooltip, and screen readers. */

import type { NavigatorFlameSearchResult, NavigatorView } from "../engine/protocol";
import { denominators } from "../navigator/model";
import { timesText } from "../profiles/recursion";
import { costText, differenceText, fraction, shareText } from "../text/cost";
import { count } from "../text/format";
import { fittingName } from "./layout";

export interface BoxFacts {
  name: string;
  /** How many calls of this name are on its stack, itself included. */
  times: number;
  cost: number;
  own: number;
  /** B's cost, in a comparison. */
  against: number | null;
  /** It calls the path that is drawn: its own cost is that of calls that begin there. */
  caller: boolean;
  label: string | null;
  /** Cost of the whole graph, of the same side. */
  total: number;
  unit: string;
}

/** `parse: 12 % of the graph, 1.2 s, 3 % (0.3 s) its own`. */
export function describeBox(box: BoxFacts): string {
  const share = shareText(fraction(box.cost, box.total));
  const own = `${costText(box.own, box.unit)} (${shareText(fraction(box.own, box.total))}) ${box.caller ? "begins here" : "its own"}`;
  const parts = [`${box.name}${timesText(box.times)}: ${costText(box.cost, box.unit)} (${share})`, own];
  if (box.against !== null) {
    const delta = differenceText(box.cost - box.against, box.unit);
    parts.push(`B ${costText(box.against, box.unit)}, Δ ${delta} (${changeText(box.cost, box.against)})`);
  }
  if (box.label !== null) {
    parts.push(`label ${box.label}`);
  }
  return parts.join(", ");
}

/** What a text matches: `2 functions · 12 % (1.2 s)`. Shares of a comparison are of what the Navigator's are. */
export function foundText(
  { count: names, share, cost, sides }: NavigatorFlameSearchResult,
  view: NavigatorView,
): string {
  if (names === 0) {
    return "nothing found";
  }
  const part = shareText(share);
  const costs =
    sides === null
      ? `${part} (${costText(cost, view.unit)})`
      : `A ${costText(sides.a, view.unit)} − B ${costText(sides.b, view.unit)} = ${differenceText(cost, view.unit)}` +
        (share === null ? "" : ` (${part}${denominators[view.of]})`);
  return `${count(names, "function")} · ${costs}`;
}

/** How a cost changed: `+12 %`, `−40 %`, `new`, `gone`. */
export function changeText(a: number, b: number): string {
  if (b === 0) {
    return a === 0 ? "no change" : "new";
  }
  if (a === 0) {
    return "gone";
  }
  const change = (a - b) / Math.abs(b);
  const text = shareText(change);
  return change > 0 ? `+${text}` : text;
}

/** The sign of a box's difference, written before its name, so that colour is not the only sign. */
export function signOf(cost: number, against: number | null): string {
  if (against === null || cost === against) {
    return "";
  }
  return cost > against ? "+ " : "− ";
}

/**
 * What is written in a box that has room for so many letters: the number of its label, the sign of its difference, its
 * name, how deep in its recursion it is; the name goes first where they do not all fit, the sign last. `label` counts from 0;
 * -1: none.
 */
export function boxText(name: string, label: number, sign: string, room: number, times = 1): string {
  const number = label < 0 ? "" : `#${label + 1} `;
  // A mark at the end needs no room for the space behind it.
  const mark = [number + sign, sign].find((it) => it.trimEnd().length <= room) ?? "";
  const left = room - mark.length;
  if (left < 3) {
    return mark.trimEnd();
  }
  const again = timesText(times);
  // The depth alone would say nothing.
  const short = fittingName(name, left - again.length);
  return mark + (left - again.length < 3 || short === "" ? fittingName(name, left) : short + again);
}
