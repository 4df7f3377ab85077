import { describe, expect, test } from "vitest";
import { bestLines, type InlineMode, inlineTexts, rulerMarks } from "../../extension/core/causal/inline";
import { speedup } from "./make";

const lines = [
  speedup({ line: 3, rank: 1, shape: "gain2", text: "a" }),
  speedup({ line: 5, rank: 2, shape: "flat", text: "b" }),
  speedup({ line: 7, rank: 3, shape: "unknown", text: "c" }),
  speedup({ line: 9, rank: bestLines + 1, shape: "harm1", text: "d" }),
  speedup({ line: 11, rank: 4, shape: "gain1", text: "e", state: "stale" }),
];

describe("the current line and the ten best have text", () => {
  const table: [mode: InlineMode, cursors: number[], shown: string[]][] = [
    ["off", [3], []],
    ["current", [], []],
    ["current", [3], ["a"]],
    ["current", [7, 9], ["c", "d"]],
    ["current", [4], []],
    ["currentAndBest", [], ["a", "b", "e (line changed since)"]],
    ["currentAndBest", [9], ["a", "b", "d", "e (line changed since)"]],
  ];
  test.each(table)("%s, cursors at %j", (mode, cursors, shown) => {
    expect(inlineTexts(lines, cursors, mode).map((text) => text.text)).toEqual(shown);
  });
});

test("stale text has its own colour", () => {
  expect(inlineTexts(lines, [], "currentAndBest").map((text) => text.tone)).toEqual(["gain", "flat", "stale"]);
});

test("the overview ruler marks the best gains and the harms, unless they are stale", () => {
  expect(rulerMarks(lines)).toEqual([
    { line: 3, tone: "gain" },
    { line: 9, tone: "harm" },
  ]);
});

test("2000 results leave at most ten marks of each kind, the worst harms first", () => {
  const many = Array.from({ length: 2000 }, (_, index) =>
    speedup({ line: index, rank: index + 1, shape: index < 1000 ? "gain1" : "harm2", slope: 0.5 - index / 1000 }),
  );
  const marks = rulerMarks(many);
  expect(marks.filter((mark) => mark.tone === "gain").map((mark) => mark.line)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(marks.filter((mark) => mark.tone === "harm").map((mark) => mark.line)).toEqual([
    1999, 1998, 1997, 1996, 1995, 1994, 1993, 1992, 1991, 1990,
  ]);
});
