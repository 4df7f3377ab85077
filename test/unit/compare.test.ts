import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import { axisOf, compareModel, estimateText, numberText, timeText } from "../../extension/core/causal/compare";
import type { ComparedPoint, ComparedTarget, Comparison } from "../../extension/core/engine/protocol";
import { Comparison as ComparisonPage } from "../../extension/webview/causal/compareTable";

function htmlOf(shown: Comparison): string {
  return renderToString(h(ComparisonPage, { model: compareModel(shown), send: () => {} }));
}

function target(over: Partial<ComparedTarget> = {}): ComparedTarget {
  return {
    target: "/w/a.cpp:14",
    kind: "line",
    name: null,
    inclusive: false,
    location: "/w/a.cpp:14",
    after: "/w/a.cpp:14",
    label: "a.cpp:14",
    uri: "file:///w/a.cpp",
    line: 13,
    state: "exact",
    costBeforeNs: { value: 4_200_000, low: 4_100_000, high: 4_300_000 },
    costAfterNs: { value: 2_100_000, low: null, high: null },
    speedup: { value: 0.5, low: 0.48, high: 0.52 },
    predicted: { value: 0.11, low: 0.08, high: 0.14 },
    extrapolated: false,
    changed: true,
    verdict: "As predicted.",
    ...over,
  };
}

function point(over: Partial<ComparedPoint> = {}): ComparedPoint {
  return {
    name: "item",
    kind: "throughput",
    beforeRate: 2000,
    afterRate: 2240.4,
    beforeNs: { value: 500_000, low: null, high: null },
    afterNs: { value: 446_349, low: null, high: null },
    actual: { value: 0.107, low: 0.1, high: 0.114 },
    targets: [target()],
    ...over,
  };
}

function comparison(over: Partial<Comparison> = {}): Comparison {
  return {
    before: { path: "/w/.fulcrum/runs/a", title: "app, before" },
    after: { path: "/w/.fulcrum/runs/b", title: "app, after" },
    progressPoints: [point()],
    notes: [],
    ...over,
  };
}

test("a row shows predicted and actual side by side", () => {
  const [model] = compareModel(comparison()).points;
  expect(model?.rows).toEqual([
    {
      label: "a.cpp:14",
      location: "/w/a.cpp:14",
      remark: "",
      costBefore: "4.2\u00a0ms",
      costAfter: "2.1\u00a0ms",
      speedup: "+50\u00a0% [48,\u00a052]",
      predicted: "+11\u00a0% [8,\u00a014]",
      actual: "+11\u00a0% [10,\u00a011]",
      verdict: "As predicted.",
      changed: true,
      predictedRange: { value: 0.11, low: 0.08, high: 0.14 },
      actualRange: { value: 0.107, low: 0.1, high: 0.114 },
      description: "Predicted +11\u00a0% [8,\u00a014], actual +11\u00a0% [10,\u00a011]",
    },
  ]);
});

describe("what happened, as a sentence", () => {
  const table: [Partial<ComparedPoint>, string][] = [
    [
      {},
      "A visit takes 11\u00a0% less time (95 % interval +10\u00a0% to +11\u00a0%): 2,000 visits a second before, 2,240 after (+12\u00a0%).",
    ],
    [
      { actual: { value: -0.05, low: -0.07, high: -0.03 }, beforeRate: null },
      "A visit takes 5\u00a0% more time (95 % interval \u22127\u00a0% to \u22123\u00a0%).",
    ],
    [
      { actual: { value: 0.01, low: -0.01, high: 0.03 }, afterRate: null },
      "The program's speed did not change by more than the measurement can tell (95 % interval \u22121\u00a0% to +3\u00a0%).",
    ],
    [
      {
        kind: "latency",
        beforeNs: { value: 3.2e6, low: null, high: null },
        afterNs: { value: 2_900_000, low: null, high: null },
      },
      "A request takes 11\u00a0% less time (95 % interval +10\u00a0% to +11\u00a0%): 3.2\u00a0ms a request before, 2.9\u00a0ms after.",
    ],
    [{ actual: null }, "The program's speedup is not known: one of the runs visited this progress point too rarely."],
  ];
  test.each(table)("%#", (over, sentence) => {
    expect(compareModel(comparison({ progressPoints: [point(over)] })).points[0]?.actual).toBe(sentence);
  });
});

test("unknown values are words, not drawings", () => {
  const bare = target({ costAfterNs: null, speedup: null, predicted: null, uri: null });
  const [row] = compareModel(comparison({ progressPoints: [point({ targets: [bare] })] })).points[0]?.rows ?? [];
  expect(row).toMatchObject({
    costAfter: "–",
    speedup: "unknown",
    predicted: "unknown",
    predictedRange: null,
    remark: "not in the workspace",
  });
});

test("all plots of a table share one axis, which includes zero", () => {
  expect(axisOf([{ value: 0.11, low: 0.08, high: 0.14 }])).toEqual({
    low: 0,
    high: 0.15000000000000002,
    ticks: [0, 0.05, 0.1, 0.15000000000000002],
  });
  const both = axisOf([
    { value: -0.2, low: -0.31, high: -0.1 },
    { value: 0.1, low: 0.1, high: 0.1 },
  ]);
  expect(both.ticks.map((tick) => Math.round(tick * 100))).toEqual([-40, -20, 0, 20]);
  expect(axisOf([]).ticks.length).toBeGreaterThan(1);
});

test("numbers are easy to read", () => {
  expect([0.5, 12.34, 999.6, 12345].map(numberText)).toEqual(["0.5", "12.3", "1,000", "12,345"]);
  expect([12, 1500, 2.5e6, 3e9].map(timeText)).toEqual(["12\u00a0ns", "1.5\u00a0µs", "2.5\u00a0ms", "3\u00a0s"]);
  expect(estimateText({ value: -0.02, low: null, high: null })).toBe("\u22122\u00a0%");
});

test("the page is a table that works with the keyboard and a screen reader", () => {
  const html = htmlOf(comparison({ notes: ["One run was short."] }));
  expect(html).toContain(
    '<th scope="row"><button type="button" class="link" title="/w/a.cpp:14">a.cpp:14</button></th>',
  );
  expect(html).toMatch(
    /<svg role="img" aria-label="Predicted \+11\u00a0% \[8,\u00a014\], actual \+11\u00a0% \[10,\u00a011\]"/,
  );
  expect(html).toContain("<li>One run was short.</li>");
  expect(html.match(/<th scope="col"/g)?.length).toBe(6);
  expect(html).toMatch(/colspan="6">As predicted.<\/td>/i);
});

test("names of programs and functions are text, never markup", () => {
  const nasty = target({ label: `<img src=x onerror="1">`, verdict: "a & b", location: `"'<` });
  const html = htmlOf(comparison({ progressPoints: [point({ name: "<b>", targets: [nasty] })] }));
  expect(html).not.toMatch(/<img|<b>/);
  expect(html).toContain("a &amp; b");
});

test("two runs without a common progress point say so", () => {
  expect(htmlOf(comparison({ progressPoints: [] }))).toContain("no progress point in common");
});
