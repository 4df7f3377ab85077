/** From boxes to pixels: only what can be seen, so that the work depends on the screen and not on the profile. */
import type { FlameBoxes, Range } from "./boxes";

/** Part of a graph on a screen. Rows of `up` grow upwards from `y`, as callers above a path do. */
export interface Pane {
  boxes: FlameBoxes;
  range: Range;
  /** Pixels from the top to the upper edge of row 0. */
  y: number;
  direction: "down" | "up";
  /** Rows that are not drawn: callers leave out the path itself, which is drawn below them. */
  skip?: number;
}

export interface Screen {
  /** Pixels. */
  width: number;
  height: number;
  rowHeight: number;
}

/** Takes one box: its index, and its place in pixels. `dust` is one or more boxes too narrow to be distinguished. */
export type Emit = (box: number, x: number, y: number, width: number, dust: boolean) => void;

/** Boxes narrower than this many pixels are drawn as dust. */
const narrow = 1.5;

/**
 * Gives every visible box of a pane. A pixel of a row gets at most one piece of dust, so at most `width` pieces come for a
 * row, whatever the profile's size; how long it takes is bounded alike. Returns how many came.
 */
export function visibleBoxes(pane: Pane, screen: Screen, emit: Emit): number {
  const { boxes, range, y, direction } = pane;
  const { width, height, rowHeight } = screen;
  const scale = width / (range.right - range.left);
  const sign = direction === "down" ? 1 : -1;
  let emitted = 0;
  for (let row = pane.skip ?? 0; row < boxes.rows; row += 1) {
    const top = y + sign * row * rowHeight;
    if (top + rowHeight <= 0 || top >= height) {
      // Rows go one way: once past the far edge none follows.
      if ((sign > 0 && top >= height) || (sign < 0 && top + rowHeight <= 0)) {
        break;
      }
      continue;
    }
    const [first, end] = boxes.row(row);
    let box = boxes.firstEndingAfter(range.left, first, end);
    let free = 0;
    while (box < end) {
      const from = boxes.x[box] ?? 0;
      if (from >= range.right) {
        break;
      }
      const left = (from - range.left) * scale;
      const right = left + (boxes.width[box] ?? 0) * scale;
      emitted += 1;
      if (right - left >= narrow) {
        emit(box, Math.max(left, 0), top, Math.min(right, width) - Math.max(left, 0), false);
        box += 1;
      } else {
        // One that begins in a pixel that has its dust ends in the next one.
        const pixel = Math.max(Math.floor(left), free);
        free = pixel + 1;
        emit(box, pixel, top, 1, true);
        // All that ends in this pixel is drawn by it.
        box = Math.max(box + 1, boxes.firstEndingAfter(range.left + (pixel + 1) / scale, box + 1, end));
      }
    }
  }
  return emitted;
}

/**
 * The rows of a pane, counted from row 0, that the screen shows; and one more, so that keys can go there. `y` is where row 0
 * begins.
 */
export function rowsInSight(y: number, direction: Pane["direction"], { height, rowHeight }: Screen): number {
  const shown = direction === "down" ? Math.ceil((height - y) / rowHeight) : Math.ceil(y / rowHeight) + 1;
  return Math.max(1, shown + 1);
}

/** The positions of callers and callees: the path between them begins `above` pixels from the top, of which some are scrolled away. */
export interface Standing {
  above: number;
  scrolled: number;
}

/** The same with other callers above the path, which stays where it is on the screen: there may be empty space above them. */
export function withCallers({ above, scrolled }: Standing, rows: number, rowHeight: number): Standing {
  const y = above - scrolled;
  const next = Math.max(rows * rowHeight, y);
  return { above: next, scrolled: next - y };
}

/** The box of a pane at a place on the screen, in pixels; -1: none. */
export function boxAt(pane: Pane, screen: Screen, x: number, y: number): number {
  const { boxes, range, direction } = pane;
  const down = Math.floor((y - pane.y) / screen.rowHeight);
  const row = direction === "down" ? down : -down;
  if (row < (pane.skip ?? 0)) {
    return -1;
  }
  const [first, end] = boxes.row(row);
  const place = range.left + (x / screen.width) * (range.right - range.left);
  const box = boxes.firstEndingAfter(place, first, end);
  return box < end && (boxes.x[box] ?? 0) <= place ? box : -1;
}

/** The part of a name that fits: its end says more than its beginning, so a qualified name loses that first. */
export function fittingName(name: string, characters: number): string {
  if (name.length <= characters) {
    return name;
  }
  const short = shortName(name);
  if (short.length <= characters) {
    return short;
  }
  return characters < 3 ? "" : `${short.slice(0, characters - 1)}…`;
}

/**
 * A function's name without its surroundings: `std::vec::Vec<T>::push` → `Vec<T>::push`, `java.util.List.add` → `List.add`,
 * `github.com/a/b.(*T).Run` → `b.(*T).Run`. Names in brackets stay whole.
 */
export function shortName(name: string): string {
  const bare = name.replace(/^.*\/(?=[^/(<]*[^/])/, "");
  const parts = splitOutside(bare);
  return parts.length <= 2
    ? bare
    : parts
        .slice(-2)
        .join("")
        .replace(/^(::|\.)/, "");
}

/** The name alone: `Class.method` → `method`. */
export function lastName(name: string): string {
  return (splitOutside(shortName(name)).at(-1) ?? name).replace(/^(::|\.)/, "");
}

/** Pieces that begin at `::` or `.`, brackets left whole. */
function splitOutside(name: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let n = 0; n < name.length; n += 1) {
    const letter = name[n] ?? "";
    if ("<([{".includes(letter)) {
      depth += 1;
    } else if (">)]}".includes(letter) && name[n - 1] !== "-") {
      depth = Math.max(0, depth - 1);
    } else if (depth === 0 && n > start && (name.startsWith("::", n) || isDot(name, n))) {
      parts.push(name.slice(start, n));
      start = n;
      n += name.startsWith("::", n) ? 1 : 0;
    }
  }
  parts.push(name.slice(start));
  return parts;
}

/** A dot between names; not the dots of `...` or of a version. */
function isDot(name: string, n: number): boolean {
  return name[n] === "." && /[\w$)\]>]/.test(name[n - 1] ?? "") && /[A-Za-z_$(<]/.test(name[n + 1] ?? "");
}
