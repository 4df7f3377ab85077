import { describe, expect, test } from "vitest";
import { aimText, lineAim, listOf, liveMessage, pathsOf, pathsProblem } from "../../extension/core/causal/live";
import { live, runState } from "./make";

test("an aim is described in words", () => {
  const table: [Partial<typeof lineAim>, string][] = [
    [{}, "lines"],
    [{ target: "function", sourceScope: ["src/%"] }, "functions in src/%"],
    [{ target: "inclusive", binaryScope: ["MAIN", "%libz%"] }, "functions with their callees in MAIN, %libz%"],
    [{ target: "path", paths: ["a > b"] }, "the path a > b"],
    [{ target: "path", paths: ["a > b", "c"] }, "2 paths"],
    [{ target: "blocked" }, "blocked calls"],
  ];
  for (const [over, text] of table) {
    expect(aimText({ ...lineAim, ...over })).toBe(text);
  }
});

describe("parsing typed call paths", () => {
  const table: [typed: string, paths: string[]][] = [
    ["main > serve", ["main > serve"]],
    ["main > serve , a > b", ["main > serve", "a > b"]],
    ["f(int, char) > g", ["f(int, char) > g"]],
    ["map<int, char>::at > g<a, b>, c", ["map<int, char>::at > g<a, b>", "c"]],
    ["", []],
    [" , ", []],
  ];
  test.each(table)("%j", (typed, paths) => {
    expect(pathsOf(typed)).toEqual(paths);
    expect(pathsProblem(typed) === undefined).toBe(paths.length > 0);
  });
  test.each(["a > ", " > b", "a >  > b"])("%j lacks a name", (typed) => {
    expect(pathsProblem(typed)).toMatch(/missing/);
  });
});

test("parsing typed patterns", () => {
  expect(listOf(" src/% ,, include/% ")).toEqual(["src/%", "include/%"]);
});

test("the ranking says whether results are live, and whether the run is paused", () => {
  expect(liveMessage(runState(), "p", "live")).toMatch(/^Live: p is still running\. 23 experiments so far/);
  expect(liveMessage(runState({ live: live({ paused: true }) }), "p", "live")).toMatch(/^Paused/);
  expect(liveMessage(runState(), "p", "other")).toMatch(/from another run/);
  expect(liveMessage(runState(), "p", "none")).toBe("");
});
