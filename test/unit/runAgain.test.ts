import { describe, expect, test } from "vitest";
import { hollowMessage } from "../../extension/core/causal/rankingTree";
import { hasAnswer, longerDuration, noAnswer, requestOfManifest } from "../../extension/core/causal/runAgain";
import { againText } from "../../extension/core/causal/status";
import { row } from "./make";

test("an answer is a target with data", () => {
  expect(hasAnswer([])).toBe(false);
  expect(hasAnswer([{ rows: [] }, { rows: [row({ shape: "unknown" })] }])).toBe(false);
  expect(hasAnswer([{ rows: [] }, { rows: [row({ shape: "flat" })] }])).toBe(true);
});

test("a longer run takes twice as long, at least a minute", () => {
  expect([null, 5, 60, 90].map(longerDuration)).toEqual([null, 60, 120, 180]);
});

describe("a run without an answer", () => {
  const outcome = (notes: string[]) => ({ exit: "app was stopped.", notes });
  const visit = "No progress point was visited, so there was nothing to measure: put FULCRUM_PROGRESS; where …";
  const short = "The program ran for 1.2 s, too short for an experiment: give it more work, a minute is good.";
  test.each([
    ["hollow circles", [], 12, undefined, "longer", /12\sexperiments.*continues where it stopped\.$/],
    ["earlier results", [], 12, "app, 14:05", "longer", /The results of app, 14:05 stay open\.$/],
    ["no visits", [visit], 0, undefined, "progress", /passed no progress point/],
    ["too short", [short], 0, undefined, "longer", /too short for an experiment/],
    ["no reason", [], 0, undefined, "longer", /too little data/],
    ["another reason", ["The disk is full."], 0, undefined, "none", /The disk is full/],
  ] as const)("%s", (_, notes, experiments, kept, next, message) => {
    const said = noAnswer(outcome([...notes]), experiments, kept);
    expect(said.next).toBe(next);
    expect(said.message).toMatch(message);
  });
});

describe("the options of a run, from its run.json", () => {
  const manifest = {
    ...{ kind: "causal", command: "./app", arguments: ["-n", "1 2"], cwd: "/p" },
    options: {
      ...{ program: "/p/app", duration: 30, until: 0.02, target: "path:main > f(int, char), path:g" },
      ...{
        sourceScope: ["src/%"],
        progress: ["p/a.rs:7"],
        endToEnd: true,
        runs: 40,
        continues: "20261121T131500Z-app",
      },
    },
  };

  test("every choice is restored", () => {
    expect(requestOfManifest(JSON.stringify(manifest))).toEqual({
      ...{ program: "/p/app", args: ["-n", "1 2"], cwd: "/p", durationSeconds: 30, until: 0.02 },
      aim: { target: "path", paths: ["main > f(int, char)", "g"], sourceScope: ["src/%"], binaryScope: [] },
      ...{ progress: ["p/a.rs:7"], maxOverhead: null, endToEnd: { runs: 40 } },
    });
  });

  test("missing options get their defaults", () => {
    expect(requestOfManifest('{"kind":"causal","command":"/p/app","cwd":"/p"}')).toEqual({
      ...{ program: "/p/app", args: [], cwd: "/p", durationSeconds: null, until: null },
      aim: { target: "line", paths: [], sourceScope: [], binaryScope: [] },
      ...{ progress: [], maxOverhead: null, endToEnd: null },
    });
  });

  test.each(["", "{", "{}", '{"kind":"events","command":"java","cwd":"/p"}', '{"kind":"causal","command":"a"}'])(
    "%s is not a causal run that can be repeated",
    (text) => {
      expect(requestOfManifest(text)).toBeUndefined();
    },
  );
});

test("the ranking says what hollow circles mean and what to do", () => {
  expect(hollowMessage([{ rows: [row({ shape: "unknown" })] }], true, 2)).toMatch(
    /enough data.*Run Longer, in the status bar/,
  );
  expect(hollowMessage([{ rows: [] }], false, 0)).toMatch(/^No line of this profile.*longer run/);
  expect(hollowMessage([], true, 1)).toMatch(/notes below say why/);
});

test("the button beside the status item", () => {
  const idle = { running: false, open: true, isHollow: false, program: "app" };
  expect(againText(idle)?.tooltip).toMatch(/run app .*again/);
  expect(againText({ ...idle, isHollow: true, program: undefined })?.text).toMatch(/Run Longer/);
  expect(againText({ ...idle, running: true })).toBeUndefined();
  expect(againText({ ...idle, open: false })).toBeUndefined();
  expect(againText({ ...idle, program: undefined })).toBeUndefined();
});
