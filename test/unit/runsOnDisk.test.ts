import { describe, expect, test } from "vitest";
import { finishedAt, newestRun, newestRuns, olderFirst, runFolderOf } from "../../extension/core/runs/runsOnDisk";
import { runEntry } from "./make";

describe("whether a manifest says that its run ended", () => {
  const end = "2026-11-21T13:15:37Z";
  const table: [text: string, finished: number | undefined][] = [
    [`{"ended":"exited","end":"${end}"}`, Date.parse(end)],
    [`{"ended":"signalled","end":"${end}"}`, Date.parse(end)],
    ['{"ended":"running","end":null}', undefined],
    ['{"ended":"lost","end":null}', undefined],
    ['{"ended":"exited","end":"yesterday"}', undefined],
    [`{"ended":3,"end":"${end}"}`, undefined],
    ["{}", undefined],
    ["null", undefined],
    ['{"ended":"exi', undefined],
  ];
  test.each(table)("%s", (text, finished) => {
    expect(finishedAt(text)).toBe(finished);
  });
});

test("the newest causal run of all folders, and after a given time", () => {
  const run = (name: string, start: string) => runEntry(name, { start, kind: "causal" });
  const runs = [run("a", "2026-11-21T13:00:00Z"), run("c", "2026-11-21T13:20:00Z"), run("b", "2026-11-21T13:10:00Z")];
  expect(newestRun(runs)?.name).toBe("c");
  expect(newestRuns(runs).map(({ name }) => name)).toEqual(["c", "b", "a"]);
  expect(newestRuns(runs, Date.parse("2026-11-21T13:05:00Z"))).toHaveLength(2);
  expect(newestRun(runs, Date.parse("2026-11-21T13:20:00Z"))).toBeUndefined();
  expect(newestRun(runs, Date.parse("2026-11-21T13:15:00Z"))?.name).toBe("c");
  expect(newestRun([])).toBeUndefined();
  const others = (["events", "transactions", "unknown"] as const).map((kind) =>
    runEntry(kind, { start: "2026-11-21T14:00:00Z", kind }),
  );
  expect(newestRun([...others, ...runs])?.name).toBe("c");
});

describe("any file of a run identifies the run", () => {
  const table: [file: string, profile: string][] = [
    ["/w/.fulcrum/runs/20261121T131500Z-p/run.json", "/w/.fulcrum/runs/20261121T131500Z-p"],
    ["/w/.fulcrum/runs/20261121T131500Z-p/causal-1-0.jsonl", "/w/.fulcrum/runs/20261121T131500Z-p"],
    ["/w/.fulcrum/runs/20261121T131500Z-p", "/w/.fulcrum/runs/20261121T131500Z-p"],
    ["/w/a.coz", "/w/a.coz"],
    ["/w/runs/p/run.json", "/w/runs/p/run.json"],
  ];
  test.each(table)("%s", (file, profile) => {
    expect(runFolderOf(file)).toBe(profile);
  });
});

test("of two runs, the older is the one before the change", async () => {
  const [a, b] = ["/w/.fulcrum/runs/20261121T131500Z-p", "/w/.fulcrum/runs/20261121T131501Z-a"];
  expect(await olderFirst([b, a])).toEqual([a, b]);
  expect(await olderFirst([a, b])).toEqual([a, b]);
});
