import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { navigatorKeys } from "../../extension/core/navigator/keys";
import { viewCommands } from "../../extension/core/navigator/messages";
import { isCausal, looksLikeProfile, profilePattern } from "../../extension/core/profileFiles";

const { contributes } = JSON.parse(readFileSync(path.resolve(__dirname, "../../package.json"), "utf8"));

test.each([
  "cpu.pb.gz",
  "/w/default.pgo",
  "synapse.folded",
  "synapse.folded.zst",
  "perf.data",
  "my.perf.data",
  "heavy.jfr",
  "callgrind.out.1234",
  "massif.out.1234",
  "dhat.out.1234",
  "app.0001.heap",
  "Heap-20261125T190000.heapprofile",
  "app.pyisession",
  "boot.pftrace",
  "a.speedscope.json",
  "profile.json.gz",
  "pipeline.samply.json.gz",
  "Trace-20261122T050000.json.gz",
  "work.stackprof.json",
  "out.perf-folded",
])("%s is offered as a profile", (file) => {
  expect(looksLikeProfile(file)).toBe(true);
});

test.each(["package.json", "perf.data.cpp", "main.rs", "data.gz", "callgrind.cpp", "profile"])(
  "%s is not: any file opens by Open Profile",
  (file) => {
    expect(looksLikeProfile(file)).toBe(false);
  },
);

test("causal profiles keep their own view", () => {
  expect(["a.coz", "/w/.fulcrum/runs/x-y/causal-1-0.jsonl", "/w/.fulcrum/runs/x-y"].every(isCausal)).toBe(true);
  expect(["a.folded", "causal.jsonl"].some(isCausal)).toBe(false);
});

test("the explorer's menus know the same endings", () => {
  const clauses = (contributes.menus["explorer/context"] as { command: string; when: string }[])
    .filter((entry) => entry.command.startsWith("fulcrum.profile."))
    .map((entry) => /resourceFilename =~ \/(.*)\/\)/.exec(entry.when)?.[1]);
  expect(clauses.length).toBe(4);
  expect(new Set(clauses)).toEqual(new Set([profilePattern.source]));
});

test("every key of the Navigator is bound, only while it has the focus, and listed", () => {
  const bound = contributes.keybindings as { command: string; key: string; when: string }[];
  for (const { command, key } of navigatorKeys) {
    expect(bound, `${command} on ${key}`).toContainEqual(expect.objectContaining({ command, key }));
  }
  const focused = /fulcrum\.navigator(Focus|Asks)|focusedView == fulcrum\.runs/;
  expect(bound.filter((entry) => !focused.test(entry.when))).toEqual([]);
  expect(new Set(navigatorKeys.map(({ key }) => key)).size).toBe(navigatorKeys.length);
});

test("the page may only run commands that are in the manifest", () => {
  const known = contributes.commands.map((entry: { command: string }) => entry.command);
  expect(viewCommands.filter((command) => !known.includes(command))).toEqual([]);
});
