/** What the accuracy and first-verdict benchmarks compute, and how they edit other people's programs. */
import { describe, expect, test } from "vitest";
import { compare, predictionAt } from "../../scripts/bench/accuracy/compare.mjs";
import { leftOut, timePerVisit } from "../../scripts/bench/accuracy/leftOut.mjs";
import { placeboError } from "../../scripts/bench/accuracy/placebo.mjs";
import { plan } from "../../scripts/bench/accuracy/plan.mjs";
import { allPrograms } from "../../scripts/bench/accuracy/programs.mjs";
import { accuracyReport } from "../../scripts/bench/accuracy/report.mjs";
import { middle } from "../../scripts/bench/first/report.mjs";
import { hasCurve } from "../../scripts/bench/first/verdict.mjs";
import { withSection } from "../../scripts/bench/lib/document.mjs";
import { invocation } from "../../scripts/bench/lib/measure.mjs";
import { parseOptions } from "../../scripts/bench/lib/options.mjs";
import { edited } from "../../scripts/bench/others/edits.mjs";

describe("edits of other people's files", () => {
  const text = ["int a;", "for (i = 0; i < n; i++) {", "  a += i; // much", "}", "done(a);", "done(b);"].join("\n");

  test("turn a loop into one line, shortened and marked", () => {
    const edit = { at: "i < n", lines: 3, with: [["i < n", "i < kept"]], first: "AGAIN(x)", target: "x" };
    expect(edited(text, [edit] as never, "f.c").split("\n")).toEqual([
      "int a;",
      "AGAIN(x) for (i = 0; i < kept; i++) { a += i; } // TARGET: x",
      "done(a);",
      "done(b);",
    ]);
  });

  test("find the first matching line after another, every matching line, and the lines around one", () => {
    const after = [{ at: "a", after: "}", with: [["(a)", "(c)"]] }];
    expect(edited(text, after as never, "f.c")).toBe(text.replace("done(a)", "done(c)"));
    const all = [{ at: "done(", all: true, before: "one", behind: "two" }];
    expect(
      edited(text, all as never, "f.c")
        .split("\n")
        .slice(4),
    ).toEqual(["done(a);", "done(b);"].flatMap((line) => ["one", line, "two"]));
  });

  test("fail on another version of the file, and name it", () => {
    expect(() => edited(text, [{ at: "nothing" }], "f.c")).toThrow(/f\.c has no line with `nothing`/);
    expect(() => edited(text, [{ at: "int a", with: [["int b", "x"]] }] as never, "f.c")).toThrow(
      /no `int b` in `int a;`/,
    );
  });
});

describe("the campaign", () => {
  test("covers thirty programs with distinct names in at most an hour", () => {
    const programs = allPrograms();
    expect(programs.length).toBeGreaterThanOrEqual(30);
    expect(new Set(programs.map(({ name }) => name)).size).toBe(programs.length);
    for (const peers of [0, 1, 2, 3]) {
      expect(plan(programs, peers).seconds).toBeLessThanOrEqual(3600.001);
    }
  });

  test("caps the time of each program, and adds half as much for a second target", () => {
    const one = { name: "one", targets: [1] };
    const two = { name: "two", targets: [1, 2] };
    const { budget, seconds } = plan([one, two], 1);
    expect(budget(one)).toMatchObject({ fulcrum: 58, coz: 26 });
    expect(budget(two)).toMatchObject({ fulcrum: 87, coz: 39 });
    expect(seconds).toBeCloseTo(2.5 * (48 + 58 + 26));
  });
});

describe("what is really left out", () => {
  /** Rounds in which the unchanged program and the three shortened ones take these times, and the rest takes 10. */
  const rounds = (...times: (number | undefined)[][]) =>
    times.map((round) =>
      Object.fromEntries(
        round.map((target, at) => [25 * at, target === undefined ? undefined : { target, all: target + 10 }]),
      ),
    );

  test("is the part of the target's own time, the median of rounds that agree", () => {
    const steady = leftOut(rounds([10, 9, 6, 4], [20, 17.6, 12, 8], [5, 4.6, 3, 2]));
    expect(steady.levels).toEqual({ 25: expect.closeTo(0.1), 50: expect.closeTo(0.4), 75: expect.closeTo(0.6) });
    expect(steady.apart).toBeCloseTo(0.02);
    const torn = leftOut(rounds([10, 9, 6, 4], [10, 8, 6, 4], [10, 9.5, 6, undefined]));
    expect(torn.levels).toEqual({ 50: expect.closeTo(0.4) });
    expect(leftOut(rounds([undefined, 9, 6, 4])).levels).toEqual({});
  });

  test("tells where the rest of the program takes another time than before, beyond what rounds differ", () => {
    const full = { target: 10, all: 20 };
    const round = { 0: full, 25: { target: 8, all: 18 }, 50: { target: 5, all: 13 }, 75: { target: 3 } };
    const counted = leftOut([round, round]);
    expect(counted.elsewhere).toEqual({ 25: 0, 50: -0.1 });
    const slower = { ...round, 50: { target: 5, all: 19 } };
    expect(leftOut([round, slower]).elsewhere).toEqual({ 25: 0, 50: 0 });
    expect(leftOut([{ ...round, 0: { target: 10 } }]).elsewhere).toEqual({});
    const sample = { name: "s", targets: [{ name: "t" }] };
    const level = { value: 0.1, low: 0, high: 1 };
    const parts: Record<string, unknown> = {
      truth: { costs: { full: [10, 10, 10], "t:25": [9, 9, 9], "t:50": [7, 7, 7], "t:75": [6, 6, 6] } },
      "left out": { t: counted },
      fulcrum: { t: { levels: { 25: level, 50: level, 75: level } } },
    };
    const rows = compare(sample, (part) => parts[part], []);
    expect(rows.map(({ elsewhere }) => elsewhere)).toEqual([undefined, -0.1, undefined]);
  });

  test("is counted in samples for each visit, in experiments without a speedup", () => {
    const experiment = (speedup: number, samples: number, visits: number) =>
      JSON.stringify({
        ...{ type: "experiment", selected: "a.c:1", speedup, selected_samples: samples, wall: 1e6 },
        points: [{ name: "p", delta: visits }],
      });
    const header = JSON.stringify({ type: "header", period: 1500 });
    const unchanged = [header, experiment(0, 100, 40), experiment(0.5, 900, 1), experiment(0, 200, 60)];
    expect(timePerVisit([...unchanged, '{"type":"exp'].join("\n"), "p")).toEqual({ target: (1500 * 300) / 100 });
    const total = (time: number, samples: number) => JSON.stringify({ type: "samples", time, total: samples });
    const counted = [...unchanged, total(1e6, 50), total(4e6, 800)].join("\n");
    expect(timePerVisit(counted, "p")?.all).toBeCloseTo((1500 * 750 * (2e6 / 3e6)) / 100);
    expect(timePerVisit([header, experiment(0, 100, 49)].join("\n"), "p")).toBeUndefined();
    expect(timePerVisit([header, experiment(0, 99, 50)].join("\n"), "p")).toBeUndefined();
  });

  test("is the speedup whose prediction is compared, on the line between two levels", () => {
    const at = (value: number) => ({ value, low: value - 0.1, high: value + 0.1 });
    const known = { 25: at(0.2), 50: at(0.4), 100: { ...at(0.5), low: null } };
    expect(predictionAt(known, 50)).toEqual(known[50]);
    expect(predictionAt(known, 40)?.value).toBeCloseTo(0.32);
    expect(predictionAt(known, 10)).toEqual({
      value: expect.closeTo(0.08),
      low: expect.closeTo(0.04),
      high: expect.closeTo(0.12),
    });
    expect(predictionAt(known, 75)).toEqual({ value: expect.closeTo(0.45), low: null, high: expect.closeTo(0.55) });
    expect(predictionAt({ 25: at(0.2) }, 26)).toEqual(at(0.2));
    expect(predictionAt({ 25: at(0.2) }, 30)).toBeUndefined();
    expect(predictionAt(known, -1)).toBeUndefined();
  });
});

describe("the placebo error", () => {
  const record = (type: string, speedup: number, period: number, pauses: number) => ({
    ...{ type, speedup, pauses, duration: period * 100 },
    points: [{ name: "p", kind: "throughput", delta: 100 }],
  });
  const baselines = [record("experiment", 0, 1_000_000, 0), record("experiment", 0, 1_000_000, 0)];
  /** A placebo; each of its pauses costs `cost` nanoseconds. */
  const placebo = (cost: number, pauses: number) => record("placebo", 0.5, 1_000_000 + (cost * pauses) / 100, pauses);

  test("is zero when all pauses cost the same", () => {
    const placebos = [20, 40, 60, 80, 100, 120].map((pauses) => placebo(30_000, pauses));
    const error = placeboError([...baselines, ...placebos], "p");
    expect(error?.count).toBe(6);
    expect(error?.before).toBeCloseTo(-0.021);
    expect(error?.after).toBeCloseTo(0, 6);
  });

  test("is what the cost of pausing does not explain", () => {
    const gains = [20, 40, 60, 100].map((pauses) => record("placebo", 0.5, 990_000, pauses));
    const error = placeboError([...baselines, ...gains], "p");
    expect(error?.before).toBeCloseTo(0.01);
    expect(Math.abs(error?.after ?? 0)).toBeGreaterThan(0.0003);
  });

  test("is unknown with too few placebos, and for latency points", () => {
    expect(placeboError([...baselines, placebo(1, 1)], "p")).toBeUndefined();
    expect(placeboError([...baselines, ...[1, 2, 3, 4].map(() => placebo(1, 1))], "q")).toBeUndefined();
  });
});

test("a host's report has a row for each program, a total, and a column for each version of coz", () => {
  const prediction = { value: 0.2, low: 0.1, high: 0.3, error: 0.01, inside: true };
  const row = {
    sample: "s",
    target: "t",
    percent: 25,
    leftOut: 0.18,
    actual: { value: 0.21, spread: 0.01 },
    fulcrum: prediction,
  };
  const peers = [
    { key: "coz", title: "coz 0.2.2" },
    { key: "coz-head", title: "coz 0.2.5" },
  ];
  const values: Record<string, unknown> = {
    host: "2 × processor, Linux 6",
    machine: { machine: "m", paranoid: "2", fulcrum: "fulcrum", revision: "r", compilers: "c" },
    "other/missing": "no source",
  };
  const journal = { get: (key: string) => values[key], dates: () => "today" };
  const results = (_: unknown, part: string) =>
    part === "fulcrum" ? { t: { placebo: { count: 4, after: -0.002 } } } : undefined;
  const text = accuracyReport({
    rows: [
      { ...row, "coz-head": { ...prediction, error: 0.05, inside: false } },
      { ...row, percent: 50, elsewhere: -0.08, fulcrum: { ...prediction, error: 0.03, inside: false } },
    ],
    programs: [
      { name: "s", targets: [], origin: "elsewhere" },
      { name: "other", targets: [] },
    ],
    ...{ peers, journal, results },
  } as never);
  expect(text).toContain("### 2 × processor, Linux 6");
  expect(text).toContain("| s | 2.0 | 3.0 | 50 % | −0.2 | – | 5.0 |");
  expect(text).toContain("| **all 1** | 2.0 | 3.0 | 50 % | −0.2 | – | 5.0 |");
  expect(text).toContain("| **where the rest stays as it is** | 1.0 | 1.0 | 100 % | – | – | 5.0 |");
  expect(text).toContain("| 3.0 | **no**, rest −8.0 |");
  expect(text).toContain(
    "| s | t | 25 % | 18.0 % | 21.0 % ± 1.0 | 20.0 % (10.0 %…30.0 %) | 1.0 | yes | not measured |  | 20.0 % | 5.0 |",
  );
  expect(text).toContain("- `other`: no source");
  expect(text).not.toContain("where what was left out is known");
  const unknown = accuracyReport({
    rows: [row, { ...row, percent: 50, leftOut: undefined, fulcrum: { ...prediction, error: 0.3, inside: false } }],
    programs: [{ name: "s", targets: [], origin: "elsewhere" }],
    ...{ peers, journal, results },
  } as never);
  expect(unknown).toContain("| **all 1** | 15.5 | 30.0 | 50 % |");
  expect(unknown).toContain("| **where what was left out is known** | 1.0 | 1.0 | 100 % |");
});

describe("first answers", () => {
  const text = (speedups: number[], visits = 3) =>
    speedups
      .map((it) => `experiment\tselected=a.c:1\tspeedup=${it}\tduration=5\nthroughput-point\tname=p\tdelta=${visits}\n`)
      .join("");

  test("coz has a curve with a baseline and four speedups, in either format", () => {
    expect(hasCurve(text([0, 0.1, 0.2, 0.3]), "p")).toBe(false);
    expect(hasCurve(text([0, 0.1, 0.2, 0.3, 0.4]), "p")).toBe(true);
    expect(hasCurve(text([0.5, 0.1, 0.2, 0.3, 0.4]), "p")).toBe(false);
    expect(hasCurve(text([0, 0.1, 0.2, 0.3, 0.4]), "q")).toBe(false);
    expect(hasCurve(text([0, 0.1, 0.2, 0.3, 0.4], 0), "p")).toBe(false);
    const json = [0, 0.1, 0.2, 0.3, 0.4].flatMap((speedup) => [
      { type: "experiment", selected: "a.c:1", speedup, duration: 5 },
      { type: "throughput-point", name: "p", delta: 3 },
    ]);
    expect(hasCurve(`${json.map((it) => JSON.stringify(it)).join("\n")}\n{"type":"exp`, "p")).toBe(true);
  });

  test("an answer that never came counts as the longest", () => {
    const results = [{ a: { seconds: 3 } }, { a: { seconds: 5 } }, {}];
    expect(middle(results, "a")).toBe("5.0 s");
    expect(middle([...results, {}, {}], "a")).toBe("none");
  });
});

test("other people's programs get their units from the environment", () => {
  expect(invocation("/p", 5)).toEqual({ command: ["/p", "5"], env: {} });
  expect(invocation("/p")).toEqual({ command: ["/p"], env: {} });
  const other = { file: "/o", args: ["-x"], folder: "/f", skip: 3 };
  const env = { SAMPLE_UNITS: "5", SAMPLE_SKIP: "3" };
  expect(invocation(other, 5)).toEqual({ command: ["/o", "-x"], env, cwd: "/f" });
});

test("folders are passed by keys, and unknown keys are errors", () => {
  const options = parseOptions(["a", "coz=/x/y", "--busy"], { more: ["busy"], keys: ["coz"] });
  expect(options).toMatchObject({ names: ["a"], folders: { coz: "/x/y" }, busy: true, resume: false });
  expect(() => parseOptions(["cox=/x"], { keys: ["coz"] })).toThrow(/coz=FOLDER/);
  expect(() => parseOptions(["--busy"])).toThrow(/no option --busy/);
});

test("a host's first table goes after those of other hosts", () => {
  const one = withSection("# Title\n", "accuracy one", "1", "accuracy");
  const document = `${one}\n## Next\n`;
  const both = withSection(document, "accuracy two", "2", "accuracy");
  expect(both.indexOf("accuracy one")).toBeLessThan(both.indexOf("accuracy two"));
  expect(both.indexOf("accuracy two")).toBeLessThan(both.indexOf("## Next"));
  expect(withSection(both, "accuracy one", "3", "accuracy")).toBe(both.replace("\n1\n", "\n3\n"));
});
