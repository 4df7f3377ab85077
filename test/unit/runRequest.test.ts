import { describe, expect, test } from "vitest";
import {
  cleanEnvironment,
  durationProblem,
  parseDuration,
  programProblem,
  resolvePath,
  runRequest,
} from "../../extension/core/causal/runRequest";

describe("durations", () => {
  const table: [typed: string, seconds: number | null | undefined][] = [
    ["", null],
    ["  ", null],
    ["60", 60],
    ["0.5", 0.5],
    ["90s", 90],
    ["2m", 120],
    ["1 h", 3600],
    ["0", undefined],
    ["-5", undefined],
    ["2 minutes", undefined],
    ["1e3", undefined],
  ];
  test.each(table)("%j", (typed, seconds) => {
    expect(parseDuration(typed)).toBe(seconds);
    expect(durationProblem(typed) === undefined).toBe(seconds !== undefined);
  });
});

describe("paths", () => {
  const table: [typed: string, resolved: string][] = [
    ["/abs/prog", "/abs/prog"],
    ["build/prog", "/project/build/prog"],
    ["./a/../prog", "/project/prog"],
    ["~/bin/prog", "/home/me/bin/prog"],
    [`\${workspaceFolder}/prog`, "/project/prog"],
    [" prog ", "/project/prog"],
  ];
  test.each(table)("%j", (typed, resolved) => {
    expect(resolvePath(typed, "/project", "/home/me")).toBe(resolved);
  });
});

const defaults = {
  until: 0.02,
  progress: ["a.cpp:7"],
  maxOverhead: 0.03,
  endToEnd: { runs: 40 },
  aim: { target: "function" as const, paths: [], sourceScope: ["src/%"], binaryScope: [] },
};

test("the typed options become a request", () => {
  const input = { program: "build/prog", args: "--size '1 000' out", cwd: "data", duration: "2m" };
  expect(runRequest(input, defaults, "/project", "/home/me")).toEqual({
    program: "/project/build/prog",
    args: ["--size", "1 000", "out"],
    cwd: "/project/data",
    durationSeconds: 120,
    ...defaults,
  });
  expect(runRequest({ program: "p", args: "", cwd: "", duration: "" }, defaults, "/project", "/home/me")).toEqual({
    program: "/project/p",
    args: [],
    cwd: "/project",
    durationSeconds: null,
    ...defaults,
  });
});

test("a program that cannot be started has an explanation", () => {
  const facts = { exists: true, isFile: true, executable: true };
  expect(programProblem("/p", facts)).toBeUndefined();
  expect(programProblem("/p", { ...facts, executable: false })).toBe(
    "/p is not executable. Choose a built program, or run chmod +x on it.",
  );
  expect(programProblem("/p", { ...facts, isFile: false })).toBe("/p is a folder. Choose the program inside it.");
  expect(programProblem("/p", { ...facts, exists: false })).toBe(
    "There is no file at /p. Build the program first, or choose another path.",
  );
});

test("the profiled program does not get the editor's environment variables", () => {
  expect(
    cleanEnvironment({
      PATH: "/bin",
      FULCRUM_ENGINE: "x",
      VSCODE_PID: "1",
      ELECTRON_RUN_AS_NODE: "1",
      MY_FULCRUM_: "y",
    }),
  ).toEqual({ PATH: "/bin", MY_FULCRUM_: "y" });
});
