/** Traces whose panels close too early, or whose engine dies. */
import assert from "node:assert/strict";
import * as vscode from "vscode";
import type { TraceComparison } from "../../extension/core/trace/compare";
import type { TraceShown } from "../../extension/core/trace/messages";
import type { RefineModel } from "../../extension/core/trace/refine";
import { Script } from "../support/play.mjs";
import { writeLoop } from "../support/runs.mjs";
import { begin, fulcrum, inWorkspace, Messages, nextPage, test, until } from "./harness";

const pair = {
  before: inWorkspace(".fulcrum/runs/20261121T121000Z-observed").fsPath,
  after: inWorkspace(".fulcrum/runs/20261121T121500Z-observed").fsPath,
};

/** The next refine loop of the traces' program, played from a script. */
function scriptedLoop(name: string): Script {
  const script = new Script(inWorkspace("build/observed").fsPath);
  const loop = writeLoop(inWorkspace("build/loop").fsPath);
  script.run(inWorkspace("").fsPath, loop.at(-1) ?? "", name);
  return script;
}

function isTrace(message: unknown): message is { shown: TraceShown } {
  const { type, shown } = message as { type?: string; shown?: object };
  return type === "show" && shown !== undefined && "trace" in shown;
}

function isComparison(message: unknown): message is { comparison: TraceComparison } {
  const { type, comparison } = message as { type?: string; comparison?: object };
  return type === "show" && comparison !== undefined;
}

/** A refine loop's first run. */
function isFirstRun(message: unknown): message is { model: RefineModel } {
  const { type, model } = message as { type?: string; model?: Partial<RefineModel> };
  return type === "show" && model?.message === "run 1 of 4";
}

/** Starts a command and closes its panel while the engine is stopped, so that the engine's answer comes too late. */
async function closedMeanwhile(command: string, ...args: unknown[]): Promise<void> {
  const api = await fulcrum();
  await until("the engine", () => api.engineState() === "running");
  const engine = api.enginePid();
  assert.ok(engine !== undefined, "the engine runs");
  const [shown, pages] = [api.messages().length, api.pagesReady()];
  process.kill(engine, "SIGSTOP");
  let done: Thenable<unknown>;
  try {
    done = vscode.commands.executeCommand(command, ...args);
    await until("the panel's page", () => api.pagesReady() > pages);
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    await until("no panel", () => vscode.window.tabGroups.all.every((group) => group.tabs.length === 0));
  } finally {
    process.kill(engine, "SIGCONT");
  }
  await done;
  assert.deepEqual(api.messages().slice(shown), []);
}

test("traces: closing the tab of a trace or a comparison that is still opening shows no message", async () => {
  await closedMeanwhile("fulcrum.trace.open", pair.after);
  await closedMeanwhile("fulcrum.trace.compare", pair);
});

test("traces: closing a refine loop's tab stops it, and until then no other one starts", async () => {
  const api = await fulcrum();
  scriptedLoop("20261122T120000Z-observed-refine-1");
  await closedMeanwhile("fulcrum.trace.refine", pair.after);

  const script = scriptedLoop("20261122T120100Z-observed-refine-1");
  const messages = Messages.mark(api);
  const going = await nextPage(isFirstRun);
  const done = vscode.commands.executeCommand("fulcrum.trace.refine", pair.after);
  script.add({ do: "report", fraction: 0.25, message: "run 1 of 4" }, { do: "deaf" });
  await going("a running loop");
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  begin("fulcrum.trace.refine", pair.after);
  await messages.next(/still stopping the last refine loop/);
  script.end();
  await done;
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
});

test("traces: a new engine repeats the comparison of two traces", async () => {
  const api = await fulcrum();
  const nextTrace = await nextPage(isTrace);
  const nextComparison = await nextPage(isComparison);
  await vscode.commands.executeCommand("fulcrum.trace.open", pair.before);
  await vscode.commands.executeCommand("fulcrum.trace.compare", pair);
  const first = await nextComparison("the comparison");
  const opened = await nextTrace("the trace");
  const [anotherTrace, anotherComparison] = [await nextPage(isTrace), await nextPage(isComparison)];
  const engine = api.enginePid();
  assert.ok(engine !== undefined, "the engine runs");
  process.kill(engine, "SIGKILL");
  const second = await anotherComparison("another comparison");
  assert.deepEqual(second.comparison, first.comparison);
  const again = await anotherTrace("the trace again");
  assert.equal(again.shown.trace.path, opened.shown.trace.path);
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
});

test("a double click opens a trace in its own tab, by its log and by its run", async () => {
  for (const file of ["events-1.log", "run.json"]) {
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    const trace = await nextPage(isTrace);
    await vscode.commands.executeCommand("vscode.open", vscode.Uri.joinPath(vscode.Uri.file(pair.after), file));
    const opened = await trace(`the trace of ${file}`);
    assert.equal(opened.shown.trace.threads.length > 0, true);
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    assert.ok(input instanceof vscode.TabInputCustom && input.viewType === "fulcrum.file");
  }
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
});
