import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { fileMenus } from "../../extension/core/menus";
import { navigatorKeys } from "../../extension/core/navigator/keys";
import { viewCommands } from "../../extension/core/navigator/messages";
import { isCausal, looksLikeProfile } from "../../extension/core/profileFiles";

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
  "ruby-stackprof.json",
  "firefox59.json",
  "Firefox 2026-11-25 10.11 profile.json.gz",
  "loop.scalene.json.gz",
  "v8log.json",
  "heap.dhat.json",
  "out.perf-folded",
])("%s is offered as a profile", (file) => {
  expect(looksLikeProfile(file)).toBe(true);
});

test.each([
  "package.json",
  "firefoxes.json",
  "myprofile.json",
  "tracer.json",
  "perf.data.cpp",
  "main.rs",
  "data.gz",
  "callgrind.cpp",
  "profile",
])("%s is not: any file opens by Open Profile", (file) => {
  expect(looksLikeProfile(file)).toBe(false);
});

test("causal profiles keep their own view", () => {
  expect(["a.coz", "/w/.fulcrum/runs/x-y/causal-1-0.jsonl", "/w/.fulcrum/runs/x-y"].every(isCausal)).toBe(true);
  expect(["a.folded", "causal.jsonl"].some(isCausal)).toBe(false);
});

test.each(Object.keys(fileMenus))("the menu %s of the manifest is what `npm run menus` writes", (menu) => {
  expect(contributes.menus[menu]).toEqual(fileMenus[menu]);
});

test("no other menu of the manifest tests names of files", () => {
  const others = Object.entries(contributes.menus as Record<string, { when?: string }[]>)
    .filter(([menu]) => !(menu in fileMenus))
    .flatMap(([, entries]) => entries);
  expect(others.filter(({ when }) => when?.includes("resource"))).toEqual([]);
});

test("Refine Trace is offered for traces only, of all that is in the folder of runs", () => {
  const { when } = fileMenus["explorer/context"]?.find(({ command }) => command === "fulcrum.trace.refine") ?? {};
  expect(when).toBe("resourceFilename =~ /^events-.*\\.log$/ || resourcePath in fulcrum.traceRuns");
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
