import assert from "node:assert/strict";
import path from "node:path";
import * as vscode from "vscode";
import { alive, begin, fulcrum, inWorkspace, Messages, processesOf, show, test, until } from "./harness";

const source = inWorkspace("two-threads.cpp");

function killEngine(pid: number | undefined): void {
  assert.ok(pid !== undefined, "the engine runs");
  process.kill(pid, "SIGKILL");
}

test("a killed engine comes back with the profile, and the gutter with it", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.causal.open", inWorkspace("two-threads.coz"));
  await show("two-threads.cpp");
  await until("shapes", () => api.currentDecorations(source)?.shapes.length === 2);
  const before = api.enginePid();
  killEngine(before);
  const after = await until("another engine", () => {
    const pid = api.enginePid();
    return api.engineState() === "running" && pid !== before && pid;
  });
  assert.ok(alive(after));
  assert.equal(api.summary()?.path, inWorkspace("two-threads.coz").fsPath);
  // An edit makes the gutter ask the new engine: it answers only if the profile is open in it.
  const editor = await show("two-threads.cpp");
  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "// moved\n"));
  await until("shapes one line further down, from the new engine", () =>
    api.currentDecorations(source)?.shapes.some((mark) => mark.line === 14),
  );
  await vscode.commands.executeCommand("undo");
  const hovers = await until("a hover of the new engine", async () => {
    const found = await vscode.commands.executeCommand<vscode.Hover[]>(
      "vscode.executeHoverProvider",
      source,
      new vscode.Position(13, 6),
    );
    return found.length > 0 && found;
  });
  assert.equal(hovers.length, 1);
});

test("an engine killed during a run leaves the program running and its records open", async () => {
  const api = await fulcrum();
  const program = inWorkspace("build/two-threads").fsPath;
  const messages = Messages.mark(api);
  begin("fulcrum.causal.run", { program, args: ["400"] });
  await until("two experiments", () => /([2-9]|\d\d+)\s+experiment/.test(api.runMessage() ?? ""));
  const [profiled] = processesOf(program);
  assert.ok(profiled !== undefined, "the profiled program runs");
  killEngine(api.enginePid());
  const message = await messages.next(/engine stopped/i);
  assert.match(message, /The program goes on\. What was recorded is in .*\.fulcrum\/runs\//);
  const run = api.summary()?.path ?? "";
  assert.equal(path.basename(path.dirname(run)), "runs");
  assert.match(run, /two-threads/);
  assert.ok(message.includes(run), `${message} names ${run}`);
  await until("the profiled program to end by itself", () => !alive(profiled));
  assert.equal(api.engineState(), "running");
});
