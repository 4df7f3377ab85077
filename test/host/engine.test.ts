import assert from "node:assert/strict";
import * as vscode from "vscode";
import { begin, fulcrum, inWorkspace, Messages, scripted, show, test, until } from "./harness";

const source = inWorkspace("two-threads.cpp");

function killEngine(pid: number | undefined): void {
  assert.ok(pid !== undefined, "the engine runs");
  process.kill(pid, "SIGKILL");
}

test("a killed engine restarts with the profile and the gutter", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.causal.open", inWorkspace("two-threads.coz"));
  await show("two-threads.cpp");
  await until("shapes", () => api.currentDecorations(source)?.shapes.length === 2);
  const before = api.enginePid();
  killEngine(before);
  await until("another engine", () => {
    const pid = api.enginePid();
    return api.engineState() === "running" && pid !== before && pid;
  });
  assert.equal(api.summary()?.path, inWorkspace("two-threads.coz").fsPath);
  // An edit makes the gutter ask the new engine, which answers only if it has the profile open.
  const editor = await show("two-threads.cpp");
  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "// moved\n"));
  await until("shapes one line lower, from the new engine", () =>
    api.currentDecorations(source)?.shapes.some((mark) => mark.line === 14),
  );
  await vscode.commands.executeCommand("undo");
  const hovers = await until("a hover from the new engine", async () => {
    const found = await vscode.commands.executeCommand<vscode.Hover[]>(
      "vscode.executeHoverProvider",
      source,
      new vscode.Position(13, 6),
    );
    return found.length > 0 && found;
  });
  assert.equal(hovers.length, 1);
});

test("if the engine dies during a run, its records open and the program continues", async () => {
  const api = await fulcrum();
  const messages = Messages.mark(api);
  const { program, script, run } = scripted("20261122T110000Z-app");
  begin("fulcrum.causal.run", { program });
  script.report(2);
  await until("two experiments", () => api.live()?.experiments === 2);
  script.add({ do: "die" });
  const message = await messages.next(/engine stopped/i);
  assert.match(message, /The program goes on\. What was recorded is in .*\.fulcrum\/runs\//);
  assert.ok(message.includes(run), `${message} names ${run}`);
  assert.equal(api.summary()?.path, run);
  assert.equal(api.engineState(), "running");
});

test("a restart that finds no engine is reported, and the next request tries again", async () => {
  const api = await fulcrum();
  const engine = process.env.FULCRUM_ENGINE;
  assert.ok(engine !== undefined, "the test's engine is named by a variable");
  const messages = Messages.mark(api);
  process.env.FULCRUM_ENGINE = "/nowhere/fulcrum";
  try {
    begin("fulcrum.restartEngine");
    await messages.next(/There is no executable engine at \/nowhere\/fulcrum/);
  } finally {
    process.env.FULCRUM_ENGINE = engine;
  }
  await vscode.commands.executeCommand("fulcrum.profile.open", inWorkspace("profiles/figure2.folded"));
  assert.equal(api.engineState(), "running");
  assert.equal(api.navigator()?.title, "figure2.folded");
});

test("a killed engine restarts with the Navigator unchanged", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.profile.open", inWorkspace("profiles/figure2.folded"));
  await until("the profile", () => api.navigator()?.title === "figure2.folded");
  const run = (command: string, ...args: unknown[]) =>
    vscode.commands.executeCommand(`fulcrum.navigator.${command}`, ...args);
  await run("toggleSuggester");
  await run("toggleZoom");
  await run("selectPath", ["c", "d"]);
  const look = () => {
    const { suggester, zoom, current } = api.navigator() ?? {};
    return JSON.stringify([suggester, zoom, current?.frames.map((frame) => frame.name)]);
  };
  const before = look();
  assert.match(before, /"HighBase",true,\["c","d"\]/);
  const pid = api.enginePid();
  killEngine(pid);
  await until("another engine", () => api.engineState() === "running" && api.enginePid() !== pid);
  await until("the Navigator as it was", () => look() === before);
  await run("toggleZoom");
  await run("close");
});
