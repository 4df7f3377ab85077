import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { customEditors, fileMenus } from "../../extension/core/menus";
import { navigatorKeys } from "../../extension/core/navigator/keys";
import { viewCommands } from "../../extension/core/navigator/messages";
import { isCausal, looksLikeProfile } from "../../extension/core/profiles/profileFiles";

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

test("causal profiles have their own view", () => {
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

test("a run's menu depends on its content: a causal run has no Refine Trace", () => {
  const when = (command: string) => fileMenus["explorer/context"]?.find((it) => it.command === command)?.when;
  const trace = "(resourceFilename =~ /^events-.*\\.log$/ || resourcePath in fulcrum.traceRuns)";
  expect(when("fulcrum.trace.refine")).toBe(trace);
  expect(when("fulcrum.trace.open")).toBe(trace);
  expect(when("fulcrum.transactions.open")).toBe(
    "resourceExtname == .txlog || resourcePath in fulcrum.transactionRuns",
  );
  expect(when("fulcrum.causal.open")).toContain("resourcePath in fulcrum.causalRuns");
  expect(when("fulcrum.causal.open")).not.toContain("traceRuns");
});

test("the editors of the manifest are those that `npm run menus` writes", () => {
  expect(contributes.customEditors).toEqual(customEditors);
});

/** Whether one of our editors is a file's default. Like VS Code, this matches the lower-cased path. */
function opensIn(file: string): string | undefined {
  const matches = (pattern: string) =>
    path.matchesGlob(pattern.includes("/") ? file.toLowerCase() : path.basename(file).toLowerCase(), pattern);
  return customEditors.find(({ selector }) => selector.some(({ filenamePattern }) => matches(filenamePattern)))
    ?.priority;
}

test.each([
  ...["cpu.pb.gz", "a.folded", "a.folded.zst", "my.perf.data", "perf.data", "a.jfr", "callgrind.out.12", "dhat.out.7"],
  ...["work.speedscope.json", "Trace-1.json.gz", "firefox 1 profile.json.gz", "two-threads.coz", "1-0.txlog"],
  ...["/w/.fulcrum/runs/x/run.json", "/w/.fulcrum/runs/x/causal-1-0.jsonl", "/w/.fulcrum/runs/x/events-1.log"],
])("a double click opens %s", (file) => {
  expect(opensIn(file)).toBe("default");
});

test.each([
  // VS Code has its own editor for these.
  ...["a.cpuprofile", "a.heapprofile"],
  ...["package.json", "profile.json", "firefox59.json", "notes.txt", "gmon.out", "data.gz", "events-2026.log"],
])("Reopen Editor With offers %s", (file) => {
  expect(opensIn(file)).toBe("option");
});

test.each(["main.cpp", "run.jsonl", "profile.ts", "server.log"])("%s stays as it is", (file) => {
  expect(opensIn(file)).toBeUndefined();
});

test("every key of the Navigator is listed, and bound only while the Navigator has the focus", () => {
  const bound = contributes.keybindings as { command: string; key: string; when: string }[];
  for (const { command, key } of navigatorKeys) {
    expect(bound, `${command} on ${key}`).toContainEqual(expect.objectContaining({ command, key }));
  }
  const focused = /fulcrum\.navigator(Focus|Asks)|focusedView == fulcrum\.runs/;
  expect(bound.filter((entry) => !focused.test(entry.when))).toEqual([]);
  expect(new Set(navigatorKeys.map(({ key }) => key)).size).toBe(navigatorKeys.length);
});

test("the page may only run commands in the manifest", () => {
  const known = contributes.commands.map((entry: { command: string }) => entry.command);
  expect(viewCommands.filter((command) => !known.includes(command))).toEqual([]);
});
