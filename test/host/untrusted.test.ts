import assert from "node:assert/strict";
import * as vscode from "vscode";
import { begin, fulcrum, inWorkspace, Messages, test, until } from "./harness";

test("an untrusted workspace shows profiles", async () => {
  assert.equal(vscode.workspace.isTrusted, false);
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.causal.open", inWorkspace("two-threads.coz"));
  assert.equal(api.summary()?.path, inWorkspace("two-threads.coz").fsPath);
});

test("an untrusted workspace lists its runs", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.runs.show");
  const rows = await until("three runs", () => api.runs().length === 3 && api.runs());
  assert.deepEqual(
    rows.map((row) => row.label),
    ["two-threads", "serial", "serial"],
  );
});

test("an untrusted workspace runs nothing, and says why", async () => {
  const api = await fulcrum();
  const messages = Messages.mark(api);
  begin("fulcrum.causal.run", { program: inWorkspace("build/two-threads").fsPath });
  assert.match(await messages.next(/trusted workspace/), /^Running a program needs a trusted workspace\./);
  assert.equal(api.runMessage(), undefined);
});
