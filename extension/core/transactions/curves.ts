/** Arrows between boxes: cubic Bézier curves, and the positions of their counts. */

/** What an arrow begins or ends at. */
export interface Box {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A curve: where it begins, its two control points, where it ends. */
export type Curve = readonly [Point, Point, Point, Point];

export interface Point {
  x: number;
  y: number;
}

/** A curve between two boxes. There and back are apart, as several kinds between the same boxes are. */
export function route(from: Box, to: Box, nth: number): Curve {
  const right = (box: Box) => box.x + box.width;
  const shift = nth * 9;
  if (to.x >= right(from)) {
    return curve({ x: right(from), y: from.y + 13 + shift }, { x: to.x, y: to.y + 13 + shift }, 1, 1);
  }
  if (right(to) <= from.x) {
    const below = (box: Box) => box.y + box.height - 9 - shift;
    return curve({ x: from.x, y: below(from) }, { x: right(to), y: below(to) }, -1, -1);
  }
  // In the same column, or to itself: out and in again on the right.
  const [top, bottom] = from.id === to.id ? [6, from.height - 6] : [13, to.height / 2];
  return curve({ x: right(from), y: from.y + top + shift }, { x: right(to), y: to.y + bottom + shift }, 1, -1);
}

/** It leaves to the right (1) or left (−1), and comes going there. */
function curve(begin: Point, end: Point, out: number, into: number): Curve {
  const bow = Math.max(34, Math.abs(end.x - begin.x) / 2);
  return [begin, { x: begin.x + out * bow, y: begin.y }, { x: end.x - into * bow, y: end.y }, end];
}

/** An SVG path. */
export function pathOf(points: Curve): string {
  const [begin, ...rest] = points.map(({ x, y }) => `${round(x)} ${round(y)}`);
  return `M${begin}C${rest.join(" ")}`;
}

/** Where a count can be read: near the middle of the curve, but not on a box, and apart from others that are `taken`. */
export function labelPlace(points: Curve, boxes: readonly Box[], taken: readonly Point[]): Point {
  const places = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9].map((part) => pointAt(points, part));
  const onBox = ({ x, y }: Point) =>
    boxes.some((box) => x > box.x - 14 && x < box.x + box.width + 14 && y > box.y - 4 && y < box.y + box.height + 10);
  const onOther = ({ x, y }: Point) => taken.some((it) => Math.abs(it.x - x) < 34 && Math.abs(it.y - y) < 12);
  const readable = places.filter((place) => !onBox(place));
  const { x, y } = readable.find((place) => !onOther(place)) ?? readable[0] ?? pointAt(points, 0.5);
  return { x: round(x), y: round(y) };
}

/** De Casteljau's point of a cubic Bézier curve. */
function pointAt(points: Curve, part: number): Point {
  const [a, b, c, d] = [(1 - part) ** 3, 3 * part * (1 - part) ** 2, 3 * part ** 2 * (1 - part), part ** 3];
  const at = (of: (point: Point) => number) =>
    a * of(points[0]) + b * of(points[1]) + c * of(points[2]) + d * of(points[3]);
  return { x: at((point) => point.x), y: at((point) => point.y) };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
