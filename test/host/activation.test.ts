import assert from "node:assert/strict";
import * as vscode from "vscode";
import { fulcrum, inWorkspace, show, test, until } from "./harness";

test("the engine starts with the first file that is shown, and the workspace's newest run opens", async () => {
  const api = await fulcrum();
  // A window without a file does not need the engine.
  assert.equal(api.engineState(), "idle");
  assert.equal(api.summary(), null);
  await show("two-threads.cpp");
  await api.restored;
  const summary = await until("the run to be open", () => api.summary() ?? undefined);
  assert.equal(summary.path, inWorkspace(".fulcrum/runs/20261121T131500Z-two-threads").fsPath);
  assert.deepEqual(
    summary.progressPoints.map((point) => point.name),
    ["iteration"],
  );
});

test("nothing else activates the extension", async () => {
  const { activationEvents } = vscode.extensions.getExtension("fulcrum.fulcrum")?.packageJSON ?? {};
  assert.ok(!activationEvents.includes("onStartupFinished") && !activationEvents.includes("*"));
});

test("every command in the manifest is registered", async () => {
  const extension = vscode.extensions.getExtension("fulcrum.fulcrum");
  const declared: string[] = extension?.packageJSON.contributes.commands.map(
    (entry: { command: string }) => entry.command,
  );
  const registered = new Set(await vscode.commands.getCommands(true));
  assert.ok(declared.length >= 15);
  assert.deepEqual(
    declared.filter((command) => !registered.has(command)),
    [],
  );
});

test(".coz files have their language", async () => {
  const document = await vscode.workspace.openTextDocument(inWorkspace("two-threads.coz"));
  assert.equal(document.languageId, "coz");
});
