import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import type { TestApi } from "../../extension/extension";
import { alive, begin, fulcrum, inWorkspace, processesOf, show, test, until } from "./harness";

const program = inWorkspace("build/serial").fsPath;
const source = inWorkspace("serial.cpp");

/** Runs the endless sample, gives its process, and stops it whatever happens. */
async function during(body: (api: TestApi, pid: number) => Promise<void>): Promise<void> {
  const api = await fulcrum();
  begin("fulcrum.causal.run", { program });
  try {
    await until("an experiment", () => (api.live()?.experiments ?? 0) > 0);
    const [pid] = processesOf(program);
    assert.ok(pid !== undefined, "the program runs");
    await body(api, pid);
  } finally {
    await vscode.commands.executeCommand("fulcrum.causal.stop");
    await until("the end of the run", () => api.runMessage() === undefined);
  }
}

test("live: gutter, ranking and status bar fill in while the program runs, and stop keeps them", async () => {
  await vscode.commands.executeCommand("fulcrum.clearResults");
  await show("serial.cpp");
  await during(async (api, pid) => {
    const shapes = await until("shapes", () => {
      const shown = api.currentDecorations(source)?.shapes;
      return shown !== undefined && shown.length > 0 && shown;
    });
    assert.ok(alive(pid), "the marks were there before the program ended");
    assert.ok(shapes.some((mark) => mark.line === 7 || mark.line === 13));
    assert.equal(api.summary()?.live, true);
    assert.match(api.summary()?.path ?? "", /\.fulcrum\/runs\/\d{8}T\d{6}Z-serial/);
    assert.ok(api.ranking().some((row) => /^serial\.cpp:\d+$/.test(row.label)));
    const before = api.live()?.experiments ?? 0;
    await until("more experiments", () => (api.live()?.experiments ?? 0) > before);
    assert.match(api.statusText() ?? "", /^\$\(sync~spin\) \d+ experiments?/);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      "vscode.executeHoverProvider",
      source,
      new vscode.Position(shapes[0]?.line ?? 7, 6),
    );
    assert.equal(hovers.length, 1);
    await vscode.commands.executeCommand("fulcrum.causal.stop");
    await until("the program to end", () => !alive(pid));
  });
  const api = await fulcrum();
  assert.equal(api.summary()?.live, false);
  assert.match(readFileSync(`${api.summary()?.path}/run.json`, "utf8"), /"ended":\s*"stopped"/);
  assert.ok((api.currentDecorations(source)?.shapes.length ?? 0) > 0);
});

test("live: a paused run experiments no more and the program goes on; a resumed one experiments again", async () => {
  await during(async (api, pid) => {
    await vscode.commands.executeCommand("fulcrum.causal.pause");
    await until("the pause", () => api.live()?.paused);
    assert.match(api.statusText() ?? "", /^\$\(debug-pause\) paused · /);
    // The experiment that was going on is still counted, and said when the engine comes to it.
    const counted = await until("two of the run's seconds without a new experiment", async () => {
      const { experiments = 0, elapsedSeconds = 0 } = api.live() ?? {};
      await until("two more seconds", () => (api.live()?.elapsedSeconds ?? 0) > elapsedSeconds + 2);
      return experiments > 0 && api.live()?.experiments === experiments && experiments;
    });
    assert.equal(api.live()?.paused, true);
    assert.ok(alive(pid));
    await vscode.commands.executeCommand("fulcrum.causal.resume");
    await until("more experiments", () => (api.live()?.experiments ?? 0) > counted);
    assert.equal(api.live()?.paused, false);
    assert.match(api.statusText() ?? "", /^\$\(sync~spin\)/);
  });
});

test("live: a profile that is opened meanwhile stays until the run's results are asked for", async () => {
  await show("serial.cpp");
  await during(async (api) => {
    await until("results", () => api.summary()?.live);
    const other = inWorkspace("two-threads.coz");
    await vscode.commands.executeCommand("fulcrum.causal.open", other);
    const before = api.live()?.experiments ?? 0;
    await until("more experiments", () => (api.live()?.experiments ?? 0) > before + 5);
    assert.equal(api.summary()?.path, other.fsPath);
    await vscode.commands.executeCommand("fulcrum.causal.showLive");
    await until("its results", () => api.summary()?.live);
  });
});
