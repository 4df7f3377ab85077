import { describe, expect, test } from "vitest";
import type { NavigatorAutomatic } from "../../extension/core/engine/protocol";
import { nothingFound, suggestionItems, summaryOf } from "../../extension/core/navigator/bottlenecks";
import { locate, rowModel } from "../../extension/core/navigator/lists";
import { crumbText, navigatorModel } from "../../extension/core/navigator/model";
import { barWidth, costText, differenceText, fasterText, shareText, shortCost } from "../../extension/core/text/cost";
import { current, opened, row, view } from "./makeNavigator";

const runs = { runs: 3, mean: 0, deviation: 0 };

const plain = (text: string) => text.replaceAll("\u00a0", " ");

test("counts are shortened for narrow columns", () => {
  const all = [276_381_875, -1_234_567_890, 999_999, 1_500_000].map((cost) => shortCost(cost, "samples"));
  expect(all.map(plain)).toEqual(["276 M", "−1.23 G", "999,999 samples", "1.50 M"]);
  expect(plain(shortCost(1_500_000, "ns"))).toBe("1.50 ms");
});

test("gains have the command line's wording", () => {
  expect([0.25, 2, 0, -0.5].map(fasterText).map((it) => it && plain(it))).toEqual([
    "25 % faster",
    "3.0 times as fast",
    null,
    null,
  ]);
});

test.each([
  [999, "ns", "999 ns"],
  [1_234_567, "ns", "1.23 ms"],
  [-12_345_678_901, "ns", "−12.3 s"],
  [123_456, "ns", "123 µs"],
  [0, "s", "0 ns"],
  [9_999, "ns", "10.0 µs"],
  [999_499, "ns", "999 µs"],
  [999_500, "ns", "1.00 ms"],
  [86_400_000_000_000, "ns", "86,400 s"],
  [1500, "us", "1.50 ms"],
  [12_345, "ms", "12.3 s"],
  [12, "bytes", "12 B"],
  [45_600, "bytes", "45.6 kB"],
  [7, "count", "7"],
  [175, "0.01 count", "1.75"],
  [-1_234_567, "0.1 count", "−123,457"],
  [150, "0.01 s", "1.50 s"],
  [12, "two words", "12 two words"],
  [1_234_567, "", "1,234,567"],
  [100_000, "events", "100,000 events"],
  [1234.4, "samples", "1,234 samples"],
])("%d %s is written as the command line writes it: %s", (cost, unit, text) => {
  expect(plain(costText(cost, unit))).toBe(text);
});

test.each([
  [0.0985, "9.85 %"],
  [0.2, "20 %"],
  [1, "100 %"],
  [0.12345, "12.3 %"],
  [0.15, "15 %"],
  [-0.25, "−25 %"],
  [0.00001, "<0.01 %"],
  [0, "0 %"],
  [null, "–"],
])("the share %s is %s", (share, text) => {
  expect(plain(shareText(share))).toBe(text);
});

test("differences are signed, and bars stay in range", () => {
  expect(plain(differenceText(40, ""))).toBe("+40");
  expect(differenceText(0, "")).toBe("0");
  expect([barWidth(null), barWidth(-0.3), barWidth(1.7)]).toEqual([0, 0.3, 1]);
});

describe("Figure 2", () => {
  test("before the first path: suggestions under their suggester's name, no costs, an empty history", () => {
    const model = navigatorModel(opened(), view({ suggester: "HighBase" }));
    expect(model.lists).toEqual([
      { title: "Functions by base", sources: [{ step: "suggestion", count: 5 }], count: 5, footer: null },
    ]);
    expect([model.current, model.canBack, model.canForward]).toEqual([null, false, false]);
    expect(plain(model.denominator)).toBe("of 100 samples");
    expect(model.metric).toBe("base");
  });

  test("[c] has base 15 and cum 97, both of 100", () => {
    const shown = navigatorModel(opened(), view({ current: current(), listing: { kind: "nearby" } })).current;
    expect(shown?.base).toMatchObject({ share: "15\u00a0%", cost: "15", width: 0.15, sides: null });
    expect(shown?.cum).toMatchObject({ share: "97\u00a0%", cost: "97", width: 0.97 });
    expect(shown?.unlabelled).toBeNull();
  });

  test("the overlap with a label is a share of the path, and the rest is given", () => {
    const labels = ["left", "apart"].map((name) => ({ name, paths: [["b", "c"]], base: 7, cum: 47, marginal: 47 }));
    const overlaps = [
      { label: "left", base: 5, cum: 45 },
      { label: "apart", base: 0, cum: 0 },
    ];
    const path = current({ overlaps, overlap: { base: 5, cum: 45 } });
    const shown = navigatorModel(opened(), view({ current: path, labels })).current;
    expect(shown?.overlaps[0]).toMatchObject({ label: "left", index: 0, share: "46.4\u00a0%", negative: false });
    expect(plain(shown?.overlaps[0]?.text ?? "")).toBe("cum 45 (46.4 % of this path), base 5 (33.3 %)");
    expect(shown?.overlaps.length).toBe(1);
    expect(shown?.apart).toBe("Nothing in common with apart.");
    expect(plain(shown?.unlabelled ?? "")).toBe("53.6 % of this path's cum has no label yet.");
  });

  test("nearby: callers, callees, trims, and what is missing or hidden", () => {
    const rows = [
      { step: "extendTop" as const, count: 2 },
      { step: "trimTop" as const, count: 1 },
      { step: "trimBottom" as const, count: 1 },
    ];
    const hidden = { top: { count: 3, share: 0.021 }, bottom: { count: 0, share: 0 } };
    const path = current({ frames: [..."cd"].map((name) => ({ name, recorded: null })), hidden });
    const { lists } = navigatorModel(opened(), view({ current: path, listing: { kind: "nearby" }, rows }));
    expect(lists.map((list) => [list.count, list.footer && plain(list.footer)])).toEqual([
      [2, "3 callers below the cutoff, with 2.1 % of the cum, not shown."],
      [0, "It calls nothing."],
      [2, null],
    ]);
    expect(lists[2] && [locate(lists[2], 0), locate(lists[2], 1), locate(lists[2], 2)]).toEqual([
      { step: "trimTop", index: 0 },
      { step: "trimBottom", index: 0 },
      undefined,
    ]);
  });

  test("a row names what it adds or removes, and a screen reader reads all of it", () => {
    const extension = rowModel(row({ names: ["a", "b"], base: 7, cum: 47 }), "extendTop", view());
    expect(extension).toMatchObject({
      text: "a → b",
      base: "7\u00a0%",
      cum: "47\u00a0%",
      width: 0.47,
      negative: false,
    });
    expect(rowModel(row({ names: ["a"] }), "trimTop", view()).text).toBe("without a");
    const labels = [{ name: "x", paths: [["c"]], base: 15, cum: 97, marginal: 97 }];
    const labelled = rowModel(row({ labels: ["x"] }), "suggestion", view({ labels }));
    expect(labelled.labels).toEqual([0]);
    expect(plain(labelled.spoken)).toBe("c, base 15 %, cum 97 %, labelled x");
  });
});

test("coverage is a stacked bar: each label shows what it adds", () => {
  const labels = [
    { name: "a", paths: [["a"]], base: 1, cum: 60, marginal: 60 },
    { name: "b", paths: [["b"], ["c"]], base: 1, cum: 30, marginal: 20 },
  ];
  const coverage = { base: 2, cum: 80, share: 0.8, gain: 4, table3: null };
  const shown = navigatorModel(opened(), view({ labels, coverage })).coverage;
  expect(shown?.segments.map((it) => [it.label, it.width, plain(it.text)])).toEqual([
    ["a", 0.6, "a: 60 %"],
    ["b", 0.2, "b (2 paths): 20 % more, of 30 % in all"],
  ]);
  expect(plain(shown?.text ?? "")).toBe("80 % of 100 is labelled");
  expect(plain(shown?.gain ?? "")).toBe("Without it, the program is at most 5.0 times as fast, by Amdahl's law.");
});

test("labels cover at most everything, whatever the profiler counted; parts of a difference may exceed it", () => {
  const labels = [{ name: "a", paths: [["a"]], base: 1, cum: 1001, marginal: 1001 }];
  const coverage = { base: 1, cum: 1001, share: 1.001, gain: null, table3: null };
  const text = (of: "total" | "difference") =>
    plain(navigatorModel(opened(), view({ labels, coverage, of, total: 1000 })).coverage?.text ?? "");
  expect(text("total")).toBe("All of 1,000 is labelled (its profiler counted 100.1 %)");
  expect(text("difference")).toBe("100.1 % of 1,000 is labelled: other paths became cheaper");
});

test("labels that became cheaper look different from those that became costlier", () => {
  const labels = [
    { name: "a", paths: [["a"]], base: 1, cum: 40, marginal: 40 },
    { name: "b", paths: [["b"]], base: 1, cum: -30, marginal: -30 },
  ];
  const shown = navigatorModel(opened(), view({ labels })).coverage;
  expect(shown?.segments.map((it) => [it.width, it.negative, it.share])).toEqual([
    [0.4, false, "40\u00a0%"],
    [0.3, true, "\u221230\u00a0%"],
  ]);
});

test.each([
  [
    { gain: 0.1, table3: 0.125 },
    "Without it, A is at most 10 % faster, by Amdahl's law. It is 12.5 % of what B costs.",
  ],
  [{ gain: 0.1, table3: null }, "Without it, the program is at most 10 % faster, by Amdahl's law."],
  [{ gain: null, table3: 2 }, "It is 200 % of what B costs."],
  [{ gain: -0.1, table3: -0.2 }, null],
  [{ gain: null, table3: null }, null],
])("the gain without the labelled cost: %j", (estimate, text) => {
  const labels = [{ name: "a", paths: [["a"]], base: 1, cum: 60, marginal: 60 }];
  const coverage = { base: 2, cum: 80, share: 0.8, ...estimate };
  const gain = navigatorModel(opened(), view({ labels, coverage })).coverage?.gain ?? null;
  expect(gain === null ? null : plain(gain)).toBe(text);
});

describe("comparison", () => {
  const sides = { base: { a: 10, b: 4 }, cum: { a: 60, b: 20 } };
  const spread = {
    base: { a: runs, b: runs, low: -1, high: 13, p: 0.08, significant: false },
    cum: { a: runs, b: runs, low: 30, high: 50, p: 0.0004, significant: true },
  };
  const compared = view({ total: 50, of: "difference", sides: { a: 150, b: 100 } });

  test("rows show A, B and Δ, of base where rows are ranked by base", () => {
    const shown = rowModel(row({ base: 6, cum: 40, sides, spread }), "extendTop", compared);
    expect(shown.sides).toEqual({ a: "60", b: "20", delta: "+40" });
    expect(shown.certainty?.significant).toBe(true);
    const byBase = view({ ...compared, suggester: "HighBase" });
    const suggested = rowModel(row({ base: 6, cum: 40, sides, spread }), "suggestion", byBase);
    expect(suggested.sides).toEqual({ a: "10", b: "4", delta: "+6" });
    expect(plain(suggested.spoken)).toMatch(/difference \+6, may be noise$/);
  });

  test("the denominator is the difference; negative values keep their sign and are explained", () => {
    const path = current({ base: -6, cum: -40, sides: null, paradox: "Both are negative." });
    const model = navigatorModel(opened({ kind: "comparison" }), { ...compared, current: path });
    expect(plain(model.denominator)).toBe("of 50 samples difference");
    expect(plain(model.shares)).toBe("shares of 50 samples difference");
    expect(model.totals).toBe("A 150 − B 100");
    expect(model.current?.cum).toMatchObject({ share: "−80\u00a0%", width: 0.8, negative: true });
    expect(model.current?.paradox).toBe("Both are negative.");
    const even = navigatorModel(opened({ kind: "comparison" }), { ...compared, of: "costlier" });
    expect(plain(even.shares)).toBe("shares of 50 samples that became costlier");
    const same = navigatorModel(opened({ kind: "comparison" }), { ...compared, total: 0 });
    expect(same.shares).toBe("every function's own cost is the same");
    const noise = navigatorModel(opened({ kind: "comparison" }), { ...compared, total: 0, of: "costlier" });
    expect(noise.shares).toBe("no function's own cost differs by more than noise");
  });

  test("certainty gives the interval and what it means", () => {
    const path = current({ base: 6, cum: 40, sides, spread });
    const shown = navigatorModel(opened({ kind: "comparison" }), { ...compared, current: path }).current;
    expect(shown?.cum.certainty?.text).toBe("95 % interval +30 to +50, p < 0.001: more than noise");
    expect(shown?.base.certainty?.text).toBe("95 % interval −1 to +13, p = 0.080: may be noise");
    expect(shown?.cum.sides).toMatchObject({ aWidth: 1, bWidth: 1 / 3 });
  });
});

test("the breadcrumb shows the current path, however long the history is", () => {
  const paths = Array.from({ length: 20 }, (_, n) => [`f${n}`]);
  const at = (current: number) =>
    navigatorModel(opened(), view({ history: { first: 5, paths, at: current, count: 25 } }));
  const crumbs = at(14).crumbs;
  expect(crumbs.length).toBe(5);
  expect(crumbs.find((crumb) => crumb.current)).toMatchObject({ text: "f9", at: 14 });
  expect([at(5).crumbs[0]?.at, at(24).crumbs.at(-1)?.current]).toEqual([5, true]);
  expect([at(5).canBack, at(24).canForward, at(23).canForward]).toEqual([true, false, true]);
});

test("long recursion is folded in displayed paths, and each call is still one click away", () => {
  const frame = (name: string) => ({ name, recorded: null });
  const frames = ["main", ...Array.from({ length: 17 }, () => "x::walk"), "leaf", "leaf"].map(frame);
  const model = navigatorModel(opened(), view({ current: current({ frames }) }));
  expect(model.current?.frames.map(({ name, short, times }) => [name, short, times])).toEqual([
    ["main", "main", 1],
    ["x::walk", "x::walk ×17", 17],
    ["leaf", "leaf", 1],
    ["leaf", "leaf", 1],
  ]);
  const names = frames.map(({ name }) => name);
  const row = { number: 0, base: 1, cum: 2, sides: null, spread: null, labels: [], names };
  expect(rowModel(row, "extendTop", view()).text).toBe("main → x::walk ×17 → leaf → leaf");
});

test("with thousands of labels, the bar has the visible ones, and the list has all", () => {
  const label = (n: number) => ({
    ...{ name: `label ${n}`, paths: [["f"]], base: 1, cum: 1 },
    marginal: n === 0 ? 5000 : 1,
  });
  const labels = Array.from({ length: 5000 }, (_, n) => label(n));
  const { coverage } = navigatorModel(opened(), view({ labels, total: 10_000 }));
  expect(coverage?.segments.length).toBe(5000);
  expect(coverage?.bar.map((segment) => segment.label)).toEqual(["label 0"]);
  expect(plain(coverage?.description ?? "")).toMatch(/4970 more labels$/);
});

test.each([
  [["a"], "a"],
  [["a", "b"], "a → b"],
  [["x::y::a", "b", "c"], "a → … → c"],
])("the breadcrumb shortens the path %s", (path, text) => {
  expect(crumbText(path)).toBe(text);
});

test("a result of the automatic search has its reason and what it adds", () => {
  const suggestion = {
    ...{ label: "parse via load", path: ["load", "parse"], base: 5, cum: 25, marginal: 0.25 },
    ...{ sides: null, spread: null, why: "Most of parse is called by load." },
  };
  const found: NavigatorAutomatic = { total: 100, of: "total", coverage: 0.25, labelled: 0, suggestions: [suggestion] };
  const [item] = suggestionItems(found, "");
  expect(plain(item?.description ?? "")).toBe("25 % · cum 25 · 2 frames");
  expect(item?.detail).toBe("load → parse · Most of parse is called by load.");
  expect(plain(summaryOf(found))).toBe("1 bottleneck covers 25 % of the cost");
  expect(plain(summaryOf({ ...found, coverage: 0.6, labelled: 0.35 }))).toMatch(/covers 25 %.*before them 35 %$/);
  expect(plain(summaryOf({ ...found, coverage: 1.001 }))).toBe("1 bottleneck covers all of the cost");
  const compared: NavigatorAutomatic = { ...found, of: "difference" };
  expect(plain(summaryOf(compared))).toBe("1 bottleneck covers 25 % of the difference");
  const even: NavigatorAutomatic = { ...found, of: "costlier" };
  expect(plain(summaryOf(even))).toBe("1 bottleneck covers 25 % of what became costlier");
});

test("an empty result says why", () => {
  const none: NavigatorAutomatic = { total: 0, of: "difference", coverage: 0, labelled: 0, suggestions: [] };
  expect(nothingFound(none)).toMatch(/same on both sides/);
  expect(nothingFound({ ...none, of: "costlier" })).toMatch(/by more than noise/);
  expect(nothingFound({ ...none, of: "total" })).toMatch(/costs nothing/);
  expect(nothingFound({ ...none, total: 100, labelled: 0.9 })).toMatch(/spread over many paths/);
});
