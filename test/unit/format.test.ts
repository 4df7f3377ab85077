import { describe, expect, test } from "vitest";
import { baseName, bestRow, count, signedPercent, slopeText, summarySentence } from "../../extension/core/text/format";
import { row, summary } from "./make";

describe("percent", () => {
  const table: [fraction: number, text: string][] = [
    [0.114, "+11\u00a0%"],
    [0.0443, "+4.4\u00a0%"],
    [0.0999, "+10\u00a0%"],
    [-0.081, "\u22128.1\u00a0%"],
    [-0.2, "\u221220\u00a0%"],
    [0, "0\u00a0%"],
    [-0.0001, "0\u00a0%"],
    [0.0004, "0\u00a0%"],
    [1.5, "+150\u00a0%"],
  ];
  test.each(table)("%d", (fraction, text) => {
    expect(signedPercent(fraction)).toBe(text);
  });
});

test("a slope is shown with its interval", () => {
  expect(slopeText({ slope: 0.11, slopeLow: 0.08, slopeHigh: 0.14 })).toBe("+11\u00a0% [8,\u00a014]");
  expect(slopeText({ slope: -0.02, slopeLow: -0.05, slopeHigh: 0.004 })).toBe("\u22122\u00a0% [\u22125,\u00a00.4]");
  expect(slopeText({ slope: 0.11, slopeLow: null, slopeHigh: null })).toBe("+11\u00a0%");
});

test("counts agree with their noun", () => {
  expect([0, 1, 2].map((n) => count(n, "line"))).toEqual(["0\u00a0lines", "1\u00a0line", "2\u00a0lines"]);
  expect(count(2, "entry", "entries")).toBe("2\u00a0entries");
});

test("the last part of a file's path", () => {
  expect(["/a/b.c", "C:\\a\\b.c", "b.c", "/a/b/"].map(baseName)).toEqual(["b.c", "b.c", "b.c", "b"]);
});

test("the best row is one that helps, or else one with data", () => {
  const unknown = row({ label: "u", shape: "unknown" });
  const flat = row({ label: "f", shape: "flat" });
  const gain = row({ label: "g", shape: "gain2" });
  expect(bestRow([unknown, flat, gain])?.label).toBe("g");
  expect(bestRow([unknown, flat])?.label).toBe("f");
  expect(bestRow([unknown])).toBeUndefined();
});

test("the summary names the best line or says that there is none", () => {
  expect(summarySentence(summary(), row())).toBe(
    "two-threads: best line two-threads.cpp:12, +4.4\u00a0% if 2× faster.",
  );
  expect(summarySentence(summary(), undefined)).toBe("two-threads: no line has enough data for a prediction yet.");
});
