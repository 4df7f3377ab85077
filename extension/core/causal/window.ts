/** Which of many results are near what an editor shows. Painting more costs time and is not visible. */

/** Lines, both ends included, 0-based. */
export interface Span {
  first: number;
  last: number;
}

/** So many lines are painted above and below what is seen, so that scrolling meets painted lines. */
const around = 200;
/** What is seen may come this near to the end of what is painted. */
const near = 50;

/** What to paint for what is seen, in order and apart from each other. */
export function spansAround(seen: readonly Span[]): Span[] {
  const spans: Span[] = [];
  const sorted = [...seen].sort((a, b) => a.first - b.first);
  for (const { first, last } of sorted) {
    const before = spans.at(-1);
    const span = { first: Math.max(0, first - around), last: last + around };
    if (before !== undefined && span.first <= before.last + 1) {
      before.last = Math.max(before.last, span.last);
    } else {
      spans.push(span);
    }
  }
  return spans;
}

/** Whether what is seen is well within what is painted. */
export function covers(painted: readonly Span[], seen: readonly Span[]): boolean {
  return seen.every(({ first, last }) =>
    painted.some((span) => span.first <= Math.max(0, first - near) && last + near <= span.last),
  );
}

/** Those of the results in the spans. `sorted` is in the order of lines. */
export function within<T extends { line: number }>(sorted: readonly T[], spans: readonly Span[]): T[] {
  return spans.flatMap(({ first, last }) => sorted.slice(lowest(sorted, first), lowest(sorted, last + 1)));
}

/** Those on one line. */
export function onLine<T extends { line: number }>(sorted: readonly T[], line: number): T[] {
  return within(sorted, [{ first: line, last: line }]);
}

/** The index of the first result on a line or below it. */
function lowest(sorted: readonly { line: number }[], line: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.line ?? 0) < line) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
