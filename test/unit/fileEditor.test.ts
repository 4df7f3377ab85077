/** What kind of file a double click opened, and what its tab says. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type FileState, fileCommands, filePage, kindOfFile } from "../../extension/core/profiles/fileEditor";

const run = "/w/.fulcrum/runs/20261121T131500Z-app";

test.each([
  ["/w/a.coz", [], "causal"],
  [`${run}/causal-1-0.jsonl`, [], "causal"],
  ["/w/a.folded", [], "profile"],
  ["/w/results.json", [], "profile"],
  ["/w/events-7.log", [], "trace"],
  ["/w/7-0.txlog", [], "transactions"],
  [`${run}/run.json`, ["run.json", "causal-1-0.jsonl"], "causal"],
  [`${run}/run.json`, ["run.json", "events-7.log"], "trace"],
  [`${run}/run.json`, ["run.json", "7-0.txlog"], "transactions"],
  [`${run}/run.json`, ["run.json"], "unknown"],
  // Not in a run store.
  ["/w/run.json", ["events-7.log"], "profile"],
])("%s beside %j is %s", (file, beside, kind) => {
  expect(kindOfFile(file, beside)).toBe(kind);
});

const states: FileState[] = [
  { kind: "opening" },
  { kind: "open" },
  { kind: "left", other: null },
  { kind: "left", other: "b.folded" },
  { kind: "trouble", text: "a.folded:1: no profile" },
];

test("a tab shows the state of its file and the next step, and always offers the text", () => {
  const says = states.map((state) => filePage("profile", "a.folded", state).says);
  expect(says).toEqual([
    "Opening…",
    "It is open in the Navigator. Let the search find what costs most, or look for it yourself.",
    "It is not open now.",
    "It is not open now: b.folded is.",
    "a.folded:1: no profile",
  ]);
  for (const state of states.slice(1)) {
    for (const kind of ["causal", "profile"] as const) {
      const { actions, trouble } = filePage(kind, "a", state);
      expect(actions.map(({ command }) => command)).toContain("text");
      expect(actions.length).toBeGreaterThan(1);
      expect(trouble).toBe(state.kind === "trouble");
    }
  }
});

test("the page may only run commands that exist", () => {
  const { contributes } = JSON.parse(readFileSync(path.resolve(__dirname, "../../package.json"), "utf8"));
  const known = contributes.commands.map(({ command }: { command: string }) => command);
  // VS Code adds a focus command for each view.
  const views = contributes.views.fulcrum.map(({ id }: { id: string }) => `${id}.focus`);
  expect(fileCommands.filter((command) => ![...known, ...views].includes(command))).toEqual([]);
});
