import { describe, expect, test } from "vitest";
import { rankingModel, rowDescription, rowPlainText, rowTooltip } from "../../extension/core/causal/rankingTree";
import { ranking, row } from "./make";

test("one progress point has no heading, several have one each", () => {
  expect(rankingModel([ranking()]).groups.map((group) => group.progressPoint)).toEqual([null]);
  const points = [
    { name: "iter", kind: "throughput" as const },
    { name: "request", kind: "latency" as const },
  ];
  const several = rankingModel([
    ranking({ progressPoints: points }),
    ranking({ progressPoints: points, progressPoint: "request", rows: [] }),
  ]);
  expect(several.groups.map((group) => [group.progressPoint, group.kind, group.rows.length])).toEqual([
    ["iter", "throughput", 1],
    ["request", "latency", 0],
  ]);
});

test("a note is listed once", () => {
  const model = rankingModel([ranking({ notes: ["a", "b"] }), ranking({ notes: ["b", "c"] })]);
  expect(model.notes).toEqual(["a", "b", "c"]);
});

describe("the description has what matters at a glance", () => {
  const table: [name: string, over: Parameters<typeof row>[0], description: string][] = [
    ["a gain", {}, "+4.4\u00a0% if 2× faster"],
    ["too little data", { shape: "unknown", text: "not enough data" }, "not enough data"],
    ["changed", { state: "stale" }, "+4.4\u00a0% if 2× faster · line changed"],
    ["elsewhere", { uri: null }, "+4.4\u00a0% if 2× faster · not in the workspace"],
  ];
  test.each(table)("%s", (_, over, description) => {
    expect(rowDescription(row(over))).toBe(description);
  });
});

test("the tooltip gives the best point with its interval", () => {
  const largest = { speedup: 0.5, programSpeedup: 0.044, low: 0.03, high: 0.058, visits: 410, durationNs: 1 };
  expect(rowTooltip(row({ largest }))).toBe(
    [
      "**two\\-threads.cpp:12**: \\+4.4\u00a0% if 2× faster",
      "",
      "- Slope +11\u00a0% [8,\u00a014]: the program's speedup in percent for each 100 % of speedup of this line.",
      "- Largest measured effect: +4.4\u00a0% (+3\u00a0% to +5.8\u00a0%) with the line faster by 50\u00a0%",
      "- 212\u00a0experiments",
      "",
      "`/src/two-threads.cpp:12`",
    ].join("\n"),
  );
});

test("plain text has the whole location", () => {
  expect(rowPlainText(row())).toBe(
    "/src/two-threads.cpp:12: +4.4\u00a0% if 2× faster, slope +11\u00a0% [8,\u00a014], 212\u00a0experiments",
  );
});

test("a target that is not a line says what it is, with its cautions", () => {
  const blocked = row({
    kind: "blocked",
    name: "read",
    label: "read at two-threads.cpp:12",
    target: "blocked:read@/src/two-threads.cpp:12",
    largest: { speedup: 0.5, programSpeedup: 0.044, low: null, high: null, visits: 410, durationNs: 1 },
    text: "+4.4\u00a0% if it waits half as long",
    cautions: ["Its points rest on few visits: run longer."],
  });
  expect(rowTooltip(blocked)).toBe(
    [
      "**read at two\\-threads.cpp:12**: \\+4.4\u00a0% if it waits half as long",
      "",
      "- Slope +11\u00a0% [8,\u00a014]: the program's speedup in percent for each 100 % of speedup of the wait.",
      "- Largest measured effect: +4.4\u00a0% with the wait shorter by 50\u00a0%",
      "- 212\u00a0experiments",
      "- Its points rest on few visits: run longer.",
      "",
      "`/src/two-threads.cpp:12`",
    ].join("\n"),
  );
  expect(rowPlainText(blocked)).toBe(
    "read at two-threads.cpp:12, /src/two-threads.cpp:12: +4.4\u00a0% if it waits half as long, slope +11\u00a0% [8,\u00a014], 212\u00a0experiments",
  );
});
