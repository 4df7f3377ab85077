import { expect, test } from "vitest";
import { rowsInSight, VirtualList } from "../../extension/core/navigator/virtualList";

const list = new VirtualList([
  { count: 3, footer: true },
  { count: 0, footer: true },
  { count: 200, footer: false },
]);

test("headings, rows and remarks are in order", () => {
  expect(list.length).toBe(1 + 3 + 1 + 1 + 1 + 1 + 200);
  expect(Array.from({ length: 9 }, (_, at) => list.entry(at))).toEqual([
    { kind: "heading", part: 0 },
    ...[0, 1, 2].map((index) => ({ kind: "row", part: 0, index })),
    { kind: "footer", part: 0 },
    { kind: "heading", part: 1 },
    { kind: "footer", part: 1 },
    { kind: "heading", part: 2 },
    { kind: "row", part: 2, index: 0 },
  ]);
  expect([list.entry(-1), list.entry(list.length)]).toEqual([undefined, undefined]);
  expect(list.entry(list.position(2, 199))).toEqual({ kind: "row", part: 2, index: 199 });
});

test("of ten million rows only those on screen are requested, in pages", () => {
  const huge = new VirtualList([{ count: 10_000_000, footer: false }]);
  const [first, end] = huge.visible(22 * 5_000_000, 220, 22);
  expect(end - first).toBeLessThan(20);
  expect(huge.missing(first, end, () => false)).toEqual([
    { part: 0, from: 4_999_950, count: 50 },
    { part: 0, from: 5_000_000, count: 50 },
  ]);
  expect(huge.missing(first, end, () => true)).toEqual([]);
});

test("of thousands of rows the visible ones are rendered, and a few around them", () => {
  const place = { height: 176, rowHeight: 22 };
  expect(rowsInSight(5000, { scrolled: 0, ...place })).toEqual([0, 12]);
  expect(rowsInSight(5000, { scrolled: 22 * 1000, ...place })).toEqual([996, 1012]);
  expect(rowsInSight(5000, { scrolled: 22 * 4992, ...place })).toEqual([4988, 5000]);
  // The list became shorter than the scroll position.
  expect(rowsInSight(3, { scrolled: 22 * 1000, ...place })).toEqual([3, 3]);
});

test("the last page ends with the list", () => {
  const [first, end] = list.visible(22 * (list.length - 2), 44, 22);
  expect(list.missing(first, end, () => false)).toEqual([{ part: 2, from: 150, count: 50 }]);
});

test("keys move from row to row, past headings and remarks", () => {
  expect(list.move(-1, "Home", 10)).toBe(1);
  expect(list.move(1, "ArrowDown", 10)).toBe(2);
  expect(list.move(3, "ArrowDown", 10)).toBe(8);
  expect(list.move(8, "ArrowUp", 10)).toBe(3);
  expect(list.move(1, "ArrowUp", 10)).toBeUndefined();
  expect(list.move(1, "PageDown", 4)).toBe(8);
  expect(list.move(8, "PageUp", 100)).toBe(1);
  expect(list.move(1, "End", 10)).toBe(list.length - 1);
  expect(list.move(list.length - 1, "PageDown", 10)).toBe(list.length - 1);
  expect(list.move(1, "x", 10)).toBeUndefined();
});

test("keys do nothing in an empty list", () => {
  const empty = new VirtualList([]);
  expect([empty.length, empty.move(-1, "Home", 5), empty.visible(0, 100, 22)]).toEqual([0, undefined, [0, 0]]);
});
