import { describe, expect, test } from "vitest";
import { isFinishedManifest, newestRun, runFolderOf } from "../../extension/core/runsOnDisk";

describe("a finished manifest", () => {
  const table: [text: string, finished: boolean][] = [
    ['{"ended":"exited"}', true],
    ['{"ended":"signalled"}', true],
    ['{"ended":"running"}', false],
    ['{"ended":3}', false],
    ["{}", false],
    ["null", false],
    ['{"ended":"exi', false],
  ];
  test.each(table)("%s", (text, finished) => {
    expect(isFinishedManifest(text)).toBe(finished);
  });
});

test("the newest run, over all folders and after a time", () => {
  const run = (name: string, start: string) => ({ path: `/w/${name}`, name, start, command: name, ended: "exited" });
  const runs = [run("a", "2026-11-21T13:00:00Z"), run("c", "2026-11-21T13:20:00Z"), run("b", "2026-11-21T13:10:00Z")];
  expect(newestRun(runs)?.name).toBe("c");
  expect(newestRun(runs, Date.parse("2026-11-21T13:20:00Z"))).toBeUndefined();
  expect(newestRun(runs, Date.parse("2026-11-21T13:15:00Z"))?.name).toBe("c");
  expect(newestRun([])).toBeUndefined();
});

describe("any file of a run stands for the run", () => {
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
