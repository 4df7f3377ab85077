import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import * as vscode from "vscode";
import { begin, fulcrum, inWorkspace, Messages, test, until, watching } from "./harness";

test("a .coz file opens from the explorer and ranks the longer loop first", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.causal.open", inWorkspace("two-threads.coz"));
  assert.equal(api.summary()?.path, inWorkspace("two-threads.coz").fsPath);
  const rows = api.ranking().filter((row) => row.label.startsWith("two-threads.cpp:"));
  assert.deepEqual(
    rows.map((row) => row.label),
    ["two-threads.cpp:14", "two-threads.cpp:20"],
  );
  assert.match(rows[0]?.description ?? "", /^\+[\d.]+\u00a0% if 2× faster$/);
  assert.match(api.statusText() ?? "", /two-threads\.cpp:14 \+4\.7\u00a0% if 2× faster/);
});

test("a file that is not a profile is refused with one sentence, and the open profile stays open", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.causal.open", inWorkspace("two-threads.coz"));
  const messages = Messages.mark(api);
  begin("fulcrum.causal.open", inWorkspace("broken.coz"));
  const message = await messages.next(/broken\.coz/);
  assert.match(message, /broken\.coz:1: /);
  assert.equal(api.summary()?.path, inWorkspace("two-threads.coz").fsPath);
});

test("a missing file is refused by name", async () => {
  const messages = Messages.mark(await fulcrum());
  begin("fulcrum.causal.open", inWorkspace("missing.coz"));
  assert.match(await messages.next(/missing\.coz/), /missing\.coz/);
});

test("a result for a file outside the workspace says so, and what to do", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.causal.open", inWorkspace("elsewhere.coz"));
  const [row] = api.ranking();
  assert.equal(row?.label, "gone.cpp:14");
  assert.match(row?.description ?? "", /not in the workspace$/);
  const messages = Messages.mark(api);
  begin("fulcrum.ranking.goto");
  assert.match(
    await messages.next(/gone\.cpp:14/),
    /^gone\.cpp:14 belongs to \/nowhere\/that\/exists\/gone\.cpp, which is not in this workspace\. Open the folder/,
  );
});

test("clearing removes everything; a command reopens the last run", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.clearResults");
  assert.equal(api.summary(), null);
  assert.deepEqual(api.ranking(), []);
  assert.equal(api.statusText(), undefined);
  await vscode.commands.executeCommand("fulcrum.causal.openLast");
  assert.equal(api.summary()?.path, inWorkspace(".fulcrum/runs/20261121T131500Z-two-threads").fsPath);
});

test("a run that ends in a terminal opens automatically", async () => {
  const api = await fulcrum();
  const from = inWorkspace(".fulcrum/runs/20261121T131500Z-two-threads");
  const to = inWorkspace(".fulcrum/runs/20261121T140000Z-terminal");
  await watching();
  const manifest = JSON.parse(readFileSync(vscode.Uri.joinPath(from, "run.json").fsPath, "utf8"));
  await vscode.workspace.fs.copy(from, to);
  manifest.end = new Date().toISOString();
  writeFileSync(vscode.Uri.joinPath(to, "run.json").fsPath, JSON.stringify(manifest));
  await until("the new run to be open", () => api.summary()?.path === to.fsPath);
  await vscode.workspace.fs.delete(to, { recursive: true });
});

test("a click in the ranking goes to the line", async () => {
  await vscode.commands.executeCommand("fulcrum.causal.open", inWorkspace("two-threads.coz"));
  await vscode.commands.executeCommand("fulcrum.ranking.goto");
  const editor = vscode.window.activeTextEditor;
  assert.equal(editor?.document.uri.fsPath, inWorkspace("two-threads.cpp").fsPath);
  assert.equal(editor?.selection.active.line, 13);
});

/** The custom editor of the active tab. */
function customTab(): string | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputCustom ? input.viewType : undefined;
}

test("a double click opens a causal profile and a run", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.clearResults");
  const profile = inWorkspace("two-threads.coz");
  await vscode.commands.executeCommand("vscode.open", profile);
  await until("the profile", () => api.summary()?.path === profile.fsPath);
  assert.equal(customTab(), "fulcrum.file");
  const run = inWorkspace(".fulcrum/runs/20261121T131500Z-two-threads");
  await vscode.commands.executeCommand("vscode.open", vscode.Uri.joinPath(run, "run.json"));
  await until("the run", () => api.summary()?.path === run.fsPath);
  assert.equal(customTab(), "fulcrum.file");
  // The text is one command away.
  await vscode.commands.executeCommand("vscode.openWith", profile, "default");
  assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, profile.fsPath);
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
});
