import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import { begin, fulcrum, inWorkspace, Messages, test, until } from "./harness";

const program = inWorkspace("build/two-threads").fsPath;

test("a missing program is refused with what to do", async () => {
  const messages = Messages.mark(await fulcrum());
  begin("fulcrum.causal.run", { program: inWorkspace("build/nothing").fsPath });
  assert.match(await messages.next(/build\/nothing/), /nothing/);
});

test("a file that is not executable is refused", async () => {
  const messages = Messages.mark(await fulcrum());
  begin("fulcrum.causal.run", { program: inWorkspace("two-threads.cpp").fsPath });
  assert.match(await messages.next(/two-threads\.cpp/), /execut/);
});

test("a run shows progress, ends with its results, and tells the best line or why there is none", async () => {
  const api = await fulcrum();
  const messages = Messages.mark(api);
  begin("fulcrum.causal.run", { program, args: ["100"], durationSeconds: 10 });
  await until("progress", () => (api.runMessage() ?? "") !== "");
  assert.match(api.statusText() ?? "", /^\$\(sync~spin\)/);
  await until("the end of the run", () => api.runMessage() === undefined);
  await messages.next(/two-threads/);
  const run = api.summary()?.path ?? "";
  assert.match(run, /\.fulcrum\/runs\/\d{8}T\d{6}Z-two-threads/);
  assert.deepEqual(
    api.summary()?.progressPoints.map((point) => point.name),
    ["iteration"],
  );
  const manifest = JSON.parse(readFileSync(`${run}/run.json`, "utf8"));
  assert.equal(manifest.kind, "causal");
  assert.notEqual(manifest.ended, "running");
  assert.ok(!manifest.environmentNames.some((name: string) => /^(VSCODE_|ELECTRON_)/.test(name)));
});

test("a run that is stopped keeps and opens what it recorded", async () => {
  const api = await fulcrum();
  const before = api.summary()?.path;
  begin("fulcrum.causal.run", { program });
  await until("experiments", () => /[1-9]\d* experiment/.test(api.runMessage() ?? ""));
  await vscode.commands.executeCommand("fulcrum.causal.stop");
  await until("the end of the run", () => api.runMessage() === undefined);
  const path = api.summary()?.path ?? "";
  assert.notEqual(path, before);
  assert.match(readFileSync(`${path}/run.json`, "utf8"), /"ended":\s*"stopped"/);
});
