/** The selected box of a flame graph and where the keys lead from it. A box keeps its place when more detail comes. */
import type { FlameBoxes, Range } from "./boxes";

export interface Place {
  row: number;
  /** Fractions of the whole graph. */
  x: number;
  width: number;
}

export type Way = "outwards" | "inwards" | "left" | "right";

/** The index of a box in these boxes; -1 when they do not have it. */
export function indexOf(boxes: FlameBoxes, place: Place): number {
  const [first, end] = boxes.row(place.row);
  const box = boxes.firstEndingAfter(place.x + place.width / 2, first, end);
  return box < end && Math.abs((boxes.x[box] ?? Number.NaN) - place.x) <= place.width * 1e-6 ? box : -1;
}

export function placeOf(boxes: FlameBoxes, row: number, box: number): Place {
  return { row, x: boxes.x[box] ?? 0, width: boxes.width[box] ?? 0 };
}

/**
 * The box that a key leads to; undefined: none, stay. Outwards goes to the widest box on this one (a callee, or a caller
 * above a path), inwards to the one below it. Left and right pass over boxes narrower than `minimum`.
 */
export function step(
  boxes: FlameBoxes,
  from: Place,
  way: Way,
  range: Range,
  minimum: number,
): { box: number; place: Place } | undefined {
  const middle = from.x + from.width / 2;
  if (way === "inwards") {
    return found(boxes, from.row - 1, at(boxes, from.row - 1, middle));
  }
  if (way === "outwards") {
    return found(boxes, from.row + 1, widest(boxes, from.row + 1, from));
  }
  const [first, end] = boxes.row(from.row);
  const direction = way === "left" ? -1 : 1;
  for (let box = at(boxes, from.row, middle) + direction; box >= first && box < end; box += direction) {
    const { x, width } = placeOf(boxes, from.row, box);
    if (x + width <= range.left || x >= range.right) {
      return undefined;
    }
    if (width >= minimum) {
      return found(boxes, from.row, box);
    }
  }
  return undefined;
}

/** The outermost box of what is shown: where the keys begin. */
export function firstPlace(boxes: FlameBoxes, range: Range): { box: number; place: Place } | undefined {
  const [first, end] = boxes.row(0);
  const box = boxes.firstEndingAfter(range.left, first, end);
  return found(boxes, 0, box < end ? box : -1);
}

/** The functions from row 0 to a place, in the order of the rows: processes and threads are no part of a path. */
export function namesTo(boxes: FlameBoxes, place: Place): string[] {
  const middle = place.x + place.width / 2;
  return Array.from({ length: place.row + 1 }, (_, row) => at(boxes, row, middle))
    .filter((box) => box >= 0 && !boxes.isContainer(box))
    .map((box) => boxes.nameOf(box));
}

/** Boxes that a search goes through, without the first `skip` rows. */
export interface Searched<S> {
  section: S;
  boxes: FlameBoxes;
  skip: number;
}

export type SearchDirection = "forwards" | "backwards";

/** The next box that `matches`: in reading order, one section after the other and round again; undefined when none does. */
export function nextMatch<S>(
  parts: readonly Searched<S>[],
  from: { section: S; place: Place } | undefined,
  direction: SearchDirection,
  matches: (name: string) => boolean,
): { section: S; place: Place } | undefined {
  const all = parts.flatMap(({ section, boxes, skip }, part) => {
    const wanted = boxes.names.map(matches);
    const [, first] = boxes.row(skip - 1);
    const hits = [...boxes.name.keys()].filter((box) => box >= first && wanted[boxes.name[box] ?? -1] === true);
    return hits.map((box) => ({ section, boxes, part, box }));
  });
  const here = parts.findIndex((it) => it.section === from?.section);
  const boxes = parts[here]?.boxes;
  const at = from === undefined || boxes === undefined ? -1 : indexOf(boxes, from.place);
  const next =
    direction === "backwards"
      ? (all.findLast(({ part, box }) => part < here || (part === here && box < at)) ?? all.at(-1))
      : (all.find(({ part, box }) => part > here || (part === here && box > at)) ?? all[0]);
  return next && { section: next.section, place: placeOf(next.boxes, rowOf(next.boxes, next.box), next.box) };
}

/** The range that a box fills. */
export function zoomOn(place: Place): Range {
  return { left: place.x, right: Math.min(1, place.x + place.width) };
}

function rowOf(boxes: FlameBoxes, box: number): number {
  let row = 0;
  while (box >= boxes.row(row)[1]) {
    row += 1;
  }
  return row;
}

function at(boxes: FlameBoxes, row: number, place: number): number {
  const [first, end] = boxes.row(row);
  const box = boxes.firstEndingAfter(place, first, end);
  return box < end && (boxes.x[box] ?? 0) <= place ? box : -1;
}

function widest(boxes: FlameBoxes, row: number, under: Place): number {
  const [first, end] = boxes.row(row);
  // A rounding error at the edge must not lead to a neighbour's callee.
  const slack = under.width * 1e-6;
  let best = -1;
  for (let box = boxes.firstEndingAfter(under.x + slack, first, end); box < end; box += 1) {
    if ((boxes.x[box] ?? 0) >= under.x + under.width - slack) {
      break;
    }
    if (best < 0 || (boxes.width[box] ?? 0) > (boxes.width[best] ?? 0)) {
      best = box;
    }
  }
  return best;
}

function found(boxes: FlameBoxes, row: number, box: number): { box: number; place: Place } | undefined {
  return box < 0 ? undefined : { box, place: placeOf(boxes, row, box) };
}
