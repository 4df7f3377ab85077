import assert from "node:assert/strict";
import * as vscode from "vscode";
import type { ToCompare } from "../../extension/core/causal/compare";
import { inWorkspace, nextPage, test } from "./harness";

const before = inWorkspace(".fulcrum/runs/20261121T120000Z-serial");
const after = inWorkspace(".fulcrum/runs/20261121T120500Z-serial");

type Shown = Extract<ToCompare, { type: "show" }>;

function isComparison(message: unknown): message is Shown {
  const { type, model } = message as Partial<Shown>;
  return type === "show" && model !== undefined && "points" in model;
}

async function compared(...args: [string, ...unknown[]]) {
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  const comparison = await nextPage(isComparison);
  await vscode.commands.executeCommand(...args);
  return (await comparison("a comparison")).model;
}

test("compare: a run and its fix, predicted and actual side by side", async () => {
  const model = await compared("fulcrum.compare.runs", { before: before.fsPath, after: after.fsPath });
  assert.equal(model.before, "serial, 2026-11-21 12:00");
  assert.equal(model.after, "serial, 2026-11-21 12:05");
  const [point] = model.points;
  assert.equal(point?.name, "round");
  assert.match(point?.actual ?? "", /^A visit takes \d+\u00a0% less time/);
  const [row] = point?.rows ?? [];
  // The loop at line 8 (line 10 after the fix) does half of its work, which was seven tenths of the program.
  assert.equal(row?.label, "serial.cpp:10");
  assert.match(row?.location ?? "", /serial\.cpp:8$/);
  const near = (text: string | undefined, low: number, high: number) => {
    const value = Number(/^\+(\d+)/.exec(text ?? "")?.[1]);
    assert.ok(value >= low && value <= high, `${text} lies between ${low} % and ${high} %`);
  };
  near(row?.speedup, 40, 60);
  near(row?.predicted, 20, 50);
  near(row?.actual, 25, 45);
  assert.ok((row?.predictedRange?.low ?? 1) < (row?.predictedRange?.high ?? 0));
});

test("compare: select one run, then compare another with it", async () => {
  await vscode.commands.executeCommand("fulcrum.compare.select", before);
  const model = await compared("fulcrum.compare.withSelected", after);
  assert.equal(model.before, "serial, 2026-11-21 12:00");
});

test("compare: of two runs selected together, the older is the one before", async () => {
  const model = await compared("fulcrum.compare.runs", after, [after, before]);
  assert.equal(model.before, "serial, 2026-11-21 12:00");
  assert.equal(model.after, "serial, 2026-11-21 12:05");
});
