/** The timeline's geometry: which time is where, which lanes are on screen. Times are nanoseconds. */

export interface Span {
  left: number;
  right: number;
}

/** The narrowest span: a probe cannot resolve a hundred nanoseconds. */
const narrowest = 100;

/** Zooms by a factor (below 1: in) around the point that is at `share` of the width. */
export function zoom(span: Span, whole: Span, factor: number, share: number): Span {
  const width = span.right - span.left;
  const wanted = Math.min(Math.max(width * factor, narrowest), whole.right - whole.left);
  const fixed = span.left + share * width;
  return inside({ left: fixed - share * wanted, right: fixed + (1 - share) * wanted }, whole);
}

/** Moves by a part of its width. */
export function pan(span: Span, whole: Span, share: number): Span {
  const by = (span.right - span.left) * share;
  return inside({ left: span.left + by, right: span.right + by }, whole);
}

/** The span around a part, with some room on both sides. */
export function around(part: Span, whole: Span): Span {
  const width = Math.max(part.right - part.left, narrowest);
  return inside({ left: part.left - width * 0.15, right: part.right + width * 0.15 }, whole);
}

/** The least move that brings a part on screen; as it is when it is there. */
export function reveal(span: Span, whole: Span, part: Span): Span {
  const width = span.right - span.left;
  if (part.right >= span.left && part.left <= span.right) {
    return span;
  }
  const middle = (part.left + part.right) / 2;
  return inside({ left: middle - width / 2, right: middle + width / 2 }, whole);
}

/** Keeps the width as far as it fits. */
function inside(span: Span, whole: Span): Span {
  const width = Math.min(span.right - span.left, whole.right - whole.left);
  const left = Math.min(Math.max(span.left, whole.left), whole.right - width);
  return { left, right: left + width };
}

export interface Tick {
  at: number;
  text: string;
}

/** Round moments, at least so many pixels apart. */
export function ticks(span: Span, width: number, apart = 110): Tick[] {
  const per = ((span.right - span.left) / Math.max(width, 1)) * apart;
  const power = 10 ** Math.floor(Math.log10(per));
  const step = [1, 2, 5, 10].map((n) => n * power).find((it) => it >= per) ?? 10 * power;
  const [size, unit] = unitOf(step);
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  const found: Tick[] = [];
  for (let n = Math.ceil(span.left / step); n * step <= span.right && found.length < 200; n += 1) {
    found.push({ at: n * step, text: `${((n * step) / size).toFixed(digits)}\u00a0${unit}` });
  }
  return found;
}

function unitOf(step: number): [number, string] {
  if (step >= 1e7) {
    return [1e9, "s"];
  }
  return step >= 1e4 ? [1e6, "ms"] : [1e3, "µs"];
}

export const rulerHeight = 20;
/** Pixels of the threads' names, left of the time. */
export const labelWidth = 150;

/** Pixels that show time. */
export function timeWidth(width: number): number {
  return Math.max(width - labelWidth, 50);
}

export const laneHeight = 20;
export const levelHeight = 15;

/** A thread's lane. The chosen thread's shows its calls, level by level. */
export interface Lane {
  thread: number;
  top: number;
  height: number;
}

export function lanes(threads: readonly number[], chosen: number | undefined, levels: number): Lane[] {
  let top = 0;
  return threads.map((thread) => {
    const height = laneHeight + (thread === chosen ? levels * levelHeight + (levels > 0 ? 4 : 0) : 0);
    const lane = { thread, top, height };
    top += height;
    return lane;
  });
}
