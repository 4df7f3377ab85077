import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import type { Script } from "../support/play.mjs";
import { begin, fulcrum, inWorkspace, scripted, show, test, until } from "./harness";
import type { Observer } from "./observer";

const source = inWorkspace("two-threads.cpp");

/** Plays a run of a program that does not end, and stops it in any case. Returns the run's folder. */
async function during(name: string, body: (api: Observer, script: Script) => Promise<void>): Promise<string> {
  const api = await fulcrum();
  const { program, script, run } = scripted(name);
  begin("fulcrum.causal.run", { program });
  try {
    script.report(1);
    await until("an experiment", () => api.live()?.experiments === 1);
    await body(api, script);
  } finally {
    await vscode.commands.executeCommand("fulcrum.causal.stop");
    await until("the end of the run", () => api.runMessage() === undefined);
  }
  return run;
}

test("live: gutter, ranking and status bar fill in while the program runs, and stopping keeps them", async () => {
  await vscode.commands.executeCommand("fulcrum.clearResults");
  await show("two-threads.cpp");
  const marked = (api: Observer) => api.currentDecorations(source)?.shapes.map((mark) => mark.line);
  const run = await during("20261122T100000Z-app", async (api, script) => {
    assert.deepEqual(marked(api), []);
    script.report(24, { analysed: true });
    await until("shapes", () => (marked(api) ?? []).length > 0);
    assert.deepEqual(marked(api), [13, 19]);
    assert.equal(api.summary()?.live, true);
    assert.deepEqual(
      api.ranking().map((row) => row.label),
      ["two-threads.cpp:14", "two-threads.cpp:20"],
    );
    await until("the count", () => api.live()?.experiments === 24);
    assert.match(api.statusText() ?? "", /^\$\(sync~spin\) 24 experiments/);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      "vscode.executeHoverProvider",
      source,
      new vscode.Position(13, 6),
    );
    assert.equal(hovers.length, 1);
  });
  const api = await fulcrum();
  assert.equal(api.summary()?.live, false);
  assert.equal(api.summary()?.path, run);
  assert.match(readFileSync(`${run}/run.json`, "utf8"), /"ended":\s*"stopped"/);
  await until("marks of the whole run", () => api.marksSettled());
  assert.deepEqual(marked(api), [13, 19]);
});

test("live: a paused run makes no experiments while the program continues; a resumed one makes them again", async () => {
  await during("20261122T100100Z-app", async (api, script) => {
    script.add({ do: "await", event: "paused" });
    // The experiment that was in progress still counts.
    script.report(2);
    await vscode.commands.executeCommand("fulcrum.causal.pause");
    await until("the pause", () => api.live()?.paused && api.live()?.experiments === 2);
    assert.match(api.statusText() ?? "", /^\$\(debug-pause\) paused · /);
    script.add({ do: "await", event: "resumed" });
    script.report(3);
    await vscode.commands.executeCommand("fulcrum.causal.resume");
    await until("more experiments", () => api.live()?.experiments === 3);
    assert.equal(api.live()?.paused, false);
    assert.match(api.statusText() ?? "", /^\$\(sync~spin\)/);
  });
});

test("live: a profile opened during the run stays until the user asks for the run's results", async () => {
  await during("20261122T100200Z-app", async (api, script) => {
    script.report(2, { analysed: true });
    await until("results", () => api.summary()?.live);
    const other = inWorkspace("two-threads.coz");
    await vscode.commands.executeCommand("fulcrum.causal.open", other);
    script.report(3, { analysed: true });
    script.report(4);
    await until("more experiments", () => api.live()?.experiments === 4);
    assert.equal(api.summary()?.path, other.fsPath);
    await vscode.commands.executeCommand("fulcrum.causal.showLive");
    await until("its results", () => api.summary()?.live);
  });
});
