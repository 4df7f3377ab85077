/** Traces whose panels are closed while they work, and whose engine dies. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { begin, fulcrum, inWorkspace, Messages, test, until } from "./harness";

const folder = inWorkspace("").fsPath.replace(/\/$/, "");
const program = path.join(folder, "build/observed");
const source = `
int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
int main(int argc, char **) { return work(argc > 1 ? 22 : 12) < 0; }
`;

let traces: { before: string; after: string } | undefined;

/** Two traces of a program that takes longer with an argument. */
async function recorded(): Promise<{ before: string; after: string }> {
  if (traces === undefined) {
    writeFileSync(`${program}.cpp`, source);
    execFileSync("g++", ["-O0", "-g", "-finstrument-functions", `${program}.cpp`, "-o", program]);
    traces = { before: await record([]), after: await record(["more"]) };
  }
  return traces;
}

async function record(args: string[]): Promise<string> {
  const api = await fulcrum();
  const before = api.trace()?.path;
  await vscode.commands.executeCommand("fulcrum.trace.record", { program, args, cwd: folder });
  const log = await until("the trace", () => api.trace()?.path !== before && api.trace()?.path);
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  return path.dirname(log);
}

/** How long a page takes to be there, at most; on a slower machine a test sees less. */
const pageIsThere = 2_000;

/** Begins a command whose panel is closed while the engine stands still; what the engine then says comes too late. */
async function closedMeanwhile(command: string, ...args: unknown[]): Promise<void> {
  const api = await fulcrum();
  const engine = api.enginePid();
  assert.ok(engine !== undefined, "the engine runs");
  const shown = api.messages().length;
  process.kill(engine, "SIGSTOP");
  let done: Thenable<unknown>;
  try {
    done = vscode.commands.executeCommand(command, ...args);
    await until("the panel", () => vscode.window.tabGroups.activeTabGroup.activeTab);
    await new Promise((resolve) => setTimeout(resolve, pageIsThere));
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    await until("no panel", () => vscode.window.tabGroups.all.every((group) => group.tabs.length === 0));
  } finally {
    process.kill(engine, "SIGCONT");
  }
  await done;
  assert.deepEqual(api.messages().slice(shown), []);
}

test("traces: closing the tab of one that opens, or of two that are compared, says nothing", async () => {
  const { before, after } = await recorded();
  await closedMeanwhile("fulcrum.trace.open", after);
  await closedMeanwhile("fulcrum.trace.compare", { before, after });
});

test("traces: a refine loop whose tab is closed stops, and until then no other one begins", async () => {
  const api = await fulcrum();
  const { after } = await recorded();
  await closedMeanwhile("fulcrum.trace.refine", after);

  const messages = Messages.mark(api);
  const done = vscode.commands.executeCommand("fulcrum.trace.refine", after);
  await until("a loop that goes on", () => api.refine()?.state === "going" && api.refine()?.message !== "starting");
  const engine = api.enginePid();
  assert.ok(engine !== undefined, "the engine runs");
  process.kill(engine, "SIGSTOP");
  try {
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    begin("fulcrum.trace.refine", after);
    await messages.next(/still stopping the last refine loop/);
  } finally {
    process.kill(engine, "SIGCONT");
  }
  await done;
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
});

test("traces: two that are compared are compared anew by a new engine", async () => {
  const api = await fulcrum();
  const pair = await recorded();
  await vscode.commands.executeCommand("fulcrum.trace.open", pair.before);
  await vscode.commands.executeCommand("fulcrum.trace.compare", pair);
  const first = await until("the comparison", () => api.traceComparison());
  const opened = api.trace();
  const engine = api.enginePid();
  assert.ok(engine !== undefined, "the engine runs");
  process.kill(engine, "SIGKILL");
  const second = await until("another comparison", () => api.traceComparison() !== first && api.traceComparison());
  assert.deepEqual(second, first);
  const again = await until("the trace again", () => api.trace() !== opened && api.trace());
  assert.equal(again.path, opened?.path);
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
});
