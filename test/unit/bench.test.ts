/** The arithmetic behind the numbers in docs/accuracy.md and docs/benchmarks.md. */
import { describe, expect, test } from "vitest";
import { compare, summarise } from "../../scripts/bench/accuracy/compare.mjs";
import { isTarget } from "../../scripts/bench/accuracy/profile.mjs";
import { withSection } from "../../scripts/bench/lib/document.mjs";
import { cost, parseReport } from "../../scripts/bench/lib/measure.mjs";
import { allSamples, chooseSamples, markerLine } from "../../scripts/bench/lib/samples.mjs";
import { median, middle95, percentile, speedup } from "../../scripts/bench/lib/statistics.mjs";
import { compare as compareTops, parseTop } from "../../scripts/bench/oracle/top.mjs";
import { split } from "../../scripts/bench/overhead/report.mjs";
import { named } from "../../scripts/bench/paths/synthetic.mjs";
import { keptLines } from "../../scripts/bench/transactions/kept.mjs";

const sample = { name: "s", targets: [{ name: "t", kind: "line", theory: [20, 40, 60] }] };
const truth = { costs: { full: [10, 10, 10], "t:25": [8, 8, 8], "t:50": [6, 6, 6], "t:75": [4, 4, 4] } };

test("a cell's error is the distance from the measured value; its interval may or may not contain it", () => {
  const levels = {
    25: { value: 0.25, low: 0.15, high: 0.35 },
    50: { value: 0.5, low: 0.45, high: 0.55 },
  };
  const results: Record<string, unknown> = {
    truth,
    fulcrum: { t: { levels } },
    coz: { t: { failure: "did not run" } },
  };
  const rows = compare(sample as never, (part: string) => results[part]);
  expect(rows.map((row) => row.actual?.value.toFixed(3))).toEqual(["0.200", "0.400", "0.600"]);
  expect(rows.map((row) => row.fulcrum?.error?.toFixed(3))).toEqual(["0.050", "0.100", undefined]);
  expect(rows.map((row) => row.fulcrum?.inside)).toEqual([true, false, undefined]);
  expect(rows[2]?.fulcrum?.failure).toBe("no experiment at 75 %");
  const summary = summarise(rows, "fulcrum");
  expect(summary).toMatchObject({ cells: 2, inside: 1 });
  expect(summary?.mean).toBeCloseTo(0.075);
  expect(summary?.worst).toBeCloseTo(0.1);
  expect(summarise(rows, "coz")).toBeUndefined();
});

test("an unknown interval contains nothing", () => {
  const result = { t: { levels: { 25: { value: 0.2, low: null, high: null } } } };
  const [row] = compare(sample as never, (part: string) => ({ truth, fulcrum: result })[part]);
  expect(row?.fulcrum?.inside).toBe(false);
});

test("medians, and a speedup over rounds with its spread", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(speedup([10, 10, 10], [5, 5, 5])).toEqual({ value: 0.5, spread: 0 });
  const noisy = speedup([10, 9, 11, 10, 10], [5, 6, 4, 5, 5]);
  expect(noisy.value).toBe(0.5);
  // A machine that slows down from round to round adds no spread.
  expect(speedup([10, 20, 40], [5, 10, 20])).toEqual({ value: 0.5, spread: 0 });
  expect(noisy.spread).toBeGreaterThan(0.02);
  expect(speedup([10, 9, 11], [5, 6, 4])).toEqual(speedup([10, 9, 11], [5, 6, 4]));
});

test("a sample's report, and the cost that an optimisation reduces", () => {
  const report = parseReport("noise\nunits=200 seconds=2.500000 result=00ff\n");
  expect(report).toEqual({ units: 200, seconds: 2.5, result: "00ff", latency: undefined });
  expect(cost({ measure: "throughput" } as never, report as never)).toBe(0.0125);
  const latency = parseReport("latency=0.007000000 units=2 seconds=0.1 result=0\n");
  expect(cost({ measure: "latency" } as never, latency as never)).toBe(0.007);
  expect(parseReport("Segmentation fault\n")).toBeUndefined();
});

describe("targets", () => {
  test("every sample has each marker on one line", () => {
    expect(markerLine("a\nb;  // TARGET: rank\n", { name: "rank" } as never)).toBe(2);
    expect(() => markerLine("a\n", { name: "rank" } as never)).toThrow(/found 0/);
    expect(() => chooseSamples(allSamples(), ["nothing"])).toThrow(/two-threads/);
    expect(allSamples().length).toBeGreaterThanOrEqual(17);
  });

  test.each([
    [{ kind: "line" }, { kind: "line", location: "/a.c:3" }, true],
    [{ kind: "line" }, { kind: "line", location: "/b/a.c:3" }, false],
    [{ kind: "function", function: "f" }, { kind: "function", name: "f(int)", location: "/a.c:1" }, true],
    [{ kind: "function", function: "f" }, { kind: "function", name: "f2", location: "/a.c:1" }, false],
    [{ kind: "function", function: "f" }, { kind: "function", name: "f", inclusive: true, location: "/a.c:1" }, false],
    [{ kind: "inclusive", function: "f" }, { kind: "function", name: "f", inclusive: true, location: "/a.c:1" }, true],
    [{ kind: "path", path: "a > b" }, { kind: "path", name: "a(int) > b", location: "/a.c:1" }, true],
    [{ kind: "path", path: "a > b" }, { kind: "path", name: "c > b", location: "/a.c:1" }, false],
    [{ kind: "blocked" }, { kind: "blocked", name: "nanosleep", location: "/a.c:3" }, true],
  ])("%j is %j: %s", (target, candidate, expected) => {
    expect(isTarget(candidate, target as never, "/a.c:3")).toBe(expected);
  });
});

test("each part of the overhead is the cost that its configuration adds", () => {
  const seconds = { alone: [1, 1, 1], hooks: [1.01, 1.01, 1.01], sampling: [1.03, 1.03, 1.03], full: [1.1, 1.1, 1.1] };
  const parts = split({ seconds } as never);
  expect(parts.hooks).toBeCloseTo(0.01);
  expect(parts.sampling).toBeCloseTo(0.02);
  expect(parts.delays).toBeCloseTo(0.07);
  expect(parts.full).toBeCloseTo(0.1);
  expect(parts.coz).toBeUndefined();
});

test("replacing a section leaves the rest of the document unchanged", () => {
  const first = withSection("# Title\n", "a", "one");
  const both = withSection(first, "b", "two");
  expect(withSection(both, "a", "three")).toBe(both.replace("one", "three"));
});

test("a percentile is one of the values", () => {
  const values = Array.from({ length: 200 }, (_, n) => 200 - n);
  expect(percentile(values, 0.99)).toBe(198);
  expect(percentile([5], 0.99)).toBe(5);
  const hundred = Array.from({ length: 100 }, (_, n) => n + 1);
  expect(percentile(hundred, 0.07)).toBe(7);
  expect(middle95(hundred)).toEqual({ low: 3, high: 98 });
});

describe("pprof's table", () => {
  const text = [
    "Type: cpu",
    "Showing nodes accounting for 30ns, 100% of 30ns total",
    "      flat  flat%   sum%        cum   cum%",
    "      20ns 66.67% 66.67%       30ns   100%  main.run",
    "      10ns 33.33%   100%       10ns 33.33%  main.(*T).less (inline)",
    "      -5ns 16.67% 83.33%          0     0%  operator new (unsigned long)",
    "",
  ].join("\n");
  const same = [
    { name: "main.run", base: 20, cum: 30 },
    { name: "main.(*T).less", base: 10, cum: 10 },
    { name: "operator new (unsigned long)", base: -5, cum: 0 },
    { name: "only.ours", base: 0, cum: 0 },
    { name: "[no stack]", base: 3, cum: 3 },
  ];

  test("is read exactly", () => {
    expect(compareTops(same, parseTop(text))).toEqual({ functions: 4, problems: [] });
  });

  test("is compared, and every difference is reported", () => {
    const ours = [{ name: "main.run", base: 20, cum: 31 }, ...same.slice(2, 4), { name: "f", base: 1, cum: 1 }];
    expect(compareTops(ours, parseTop(text)).problems).toEqual([
      "main.run: flat 20, cum 31; pprof says flat 20, cum 30",
      "f: flat 1, cum 1; pprof says flat 0, cum 0",
      "main.(*T).less: flat 0, cum 0; pprof says flat 10, cum 10",
    ]);
  });

  test("must be a table of whole numbers", () => {
    expect(() => parseTop("usage: pprof")).toThrow(/not a table/);
    expect(() => parseTop(text.replace("20ns", "0.02us"))).toThrow(/not a whole number/);
  });
});

test("a planted sequence is recognised by a name that no other has", () => {
  const planted = [{ path: ["host", "own", "tail"] }, { path: ["other", "step", "tail"] }];
  expect(named({ planted }, [["x", "own"], ["tail"]])).toBe(1);
  expect(named({ planted }, [["own"], ["step", "tail"]])).toBe(2);
  expect(named({ planted }, [["own"], ["step", "tail"]], 1)).toBe(1);
});

test("what was measured of other servers stays", () => {
  const document = `<!-- bench transactions -->
| server | cost |
| --- | --: |
| Redis | 1 % |
| Apache, event MPM | 2 % |
- Redis was not measured: install redis-server.

What flowed through shared memory in the rounds.

- Redis: 1 × a → b
- Apache, event MPM: 2 × push → pop
<!-- end transactions -->
| Redis | another table |
`;
  expect(keptLines(document, ["Redis"])).toEqual({
    rows: ["| Apache, event MPM | 2 % |"],
    flows: ["- Apache, event MPM: 2 × push → pop"],
  });
  expect(keptLines("", ["Redis"])).toEqual({ rows: [], flows: [] });
});
