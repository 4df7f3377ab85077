import { expect, test } from "vitest";
import { type StatusInput, statusText } from "../../extension/core/causal/status";
import { live, row, runState, summary } from "./make";

const idle: StatusInput = { engine: "running", run: null, summary: null, rows: [], hotLinesOf: null };
const table: [name: string, over: Partial<StatusInput>, text: string | undefined][] = [
  ["nothing loaded", {}, undefined],
  ["engine restarts", { engine: "restarting" }, undefined],
  ["engine failed", { engine: "failed" }, "$(error) Fulcrum"],
  ["run begins", { run: runState({ message: "", live: null }) }, "$(sync~spin) Fulcrum: starting"],
  ["run is running", { run: runState(), summary: summary() }, "$(sync~spin) 23 experiments"],
  [
    "run is paused",
    { run: runState({ message: "paused · 23 experiments", live: live({ paused: true }) }) },
    "$(debug-pause) paused · 23 experiments",
  ],
  ["best line", { summary: summary(), rows: [row()] }, "$(graph-line) two-threads.cpp:12 +4.4\u00a0% if 2× faster"],
  [
    "hot lines",
    { hotLinesOf: { title: "server.folded", comparison: false }, summary: summary() },
    "$(flame) Hot lines: server.folded",
  ],
  ["a comparison", { hotLinesOf: { title: "after − before", comparison: true } }, "$(diff) Difference: after − before"],
  ["no result", { summary: summary(), rows: [], hotLinesOf: null }, "$(graph-line) No result yet"],
];
test.each(table)("%s", (_, over, text) => {
  expect(statusText({ ...idle, ...over })?.text).toBe(text);
});
