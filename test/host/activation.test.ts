import assert from "node:assert/strict";
import * as vscode from "vscode";
import { fulcrum, inWorkspace, test, until } from "./harness";

test("activation reopens the newest run of the workspace", async () => {
  const api = await fulcrum();
  await api.restored;
  const summary = await until("the run to be open", () => api.summary() ?? undefined);
  assert.equal(summary.path, inWorkspace(".fulcrum/runs/20261121T131500Z-two-threads").fsPath);
  assert.deepEqual(
    summary.progressPoints.map((point) => point.name),
    ["iteration"],
  );
});

test("every command of the manifest is registered", async () => {
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
