/** A run in progress, watched and controlled as a person would. A script plays the run. */
import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { Script } from "../support/play.mjs";
import { sampleLines } from "../support/sample.mjs";
import { fixtureRun } from "../support/stage.mjs";
import { until } from "./workbench.mjs";

export async function liveTests({ test, vscode, page, workspace }) {
  const program = path.join(workspace.folder, "build/app");
  const recorded = path.join(workspace.folder, ".fulcrum/runs", fixtureRun);
  const both = [sampleLines.longer, sampleLines.shorter];
  const marked = async () => Object.keys(await vscode.gutterCells()).map(Number);
  const titleButton = (name) =>
    page
      .locator(`.sidebar .title-actions [aria-label^="${name}"], .sidebar .actions-container [aria-label^="${name}"]`)
      .first();
  let script;
  let run;

  const says = (text) =>
    until(page, `${text} in the status bar`, async () => (await vscode.statusText())?.includes(text));

  /** Starts a run with the wizard, of a program that does not end. */
  async function start(name) {
    script = new Script(program);
    // The wizard needs a program; the script is played in its place.
    copyFileSync("/bin/true", program);
    run = script.run(workspace.folder, recorded, name);
    await vscode.command("Fulcrum: Run Causal Profiler");
    await vscode.answer("(1/4)", "build/app");
    await vscode.answer("(2/4)");
    await vscode.answer("(3/4)");
    await vscode.answer("(4/4)", "");
    await vscode.answer("What Is Progress for app", "I do not know yet");
    script.report(1);
    await says("1 experiment");
  }

  await test("the gutter fills in while the program runs", async () => {
    await vscode.openFile("two-threads.cpp");
    await vscode.showRanking();
    await vscode.command("Fulcrum: Clear Results");
    await until(page, "an empty gutter", async () => (await marked()).length === 0);
    await start("20261122T090000Z-app");
    assert.deepEqual(await marked(), []);
    script.report(30, { analysed: true });
    await until(page, "shapes in the gutter", async () => (await marked()).length === 2);
    assert.deepEqual(await marked(), both);
    await until(page, "rows in the ranking", async () =>
      (await vscode.rankingRows()).some((row) => row.startsWith(`two-threads.cpp:${sampleLines.longer}`)),
    );
    await page.locator(".sidebar .message", { hasText: "Live: app is still running" }).waitFor();
    await says("30 experiments");
  });

  await test("Pause in the view's title stops the experiments, not the program; Resume continues them", async () => {
    await page.locator(".sidebar .pane-header", { hasText: "Ranking" }).hover();
    script.add({ do: "await", event: "paused" });
    // The experiment that was in progress still counts.
    script.report(31);
    await titleButton("Pause the Causal Profiler").click();
    await until(page, "the pause in the status bar", async () => /paused.*31/.test((await vscode.statusText()) ?? ""));
    script.add({ do: "await", event: "resumed" });
    script.report(32);
    await titleButton("Resume the Causal Profiler").click();
    await says("32 experiments");
    assert.doesNotMatch((await vscode.statusText()) ?? "", /paused/);
  });

  await test("the status bar's menu controls the run", async () => {
    await page.locator("[id*='fulcrum.status']").first().click();
    for (const label of ["Pause", "Stop and show results", "Change scope or target…", "Let it run"]) {
      await page.locator(".quick-input-list .monaco-list-row", { hasText: label }).first().waitFor();
    }
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "Change scope or target…" }).click();
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "Functions with Callees" }).waitFor();
    await page.keyboard.press("Escape");
  });

  await test("Cancel in the notification stops the program and keeps the results", async () => {
    await vscode.command("Notifications: Show Notifications");
    await page
      .locator(".notifications-center .monaco-button, .notifications-toasts .monaco-button", { hasText: "Cancel" })
      .first()
      .click();
    await until(page, "the end in the status bar", async () => !/experiment/.test((await vscode.statusText()) ?? ""));
    assert.deepEqual(await marked(), both);
    assert.equal(ended(), "stopped");
    await vscode.command("Notifications: Clear All Notifications");
  });

  await test("reloading the window during a run loses no results", async () => {
    await vscode.command("Fulcrum: Clear Results");
    await start("20261122T090100Z-app");
    script.report(20, { analysed: true });
    await until(page, "live shapes in the gutter", async () => (await marked()).length === 2);
    await vscode.reload();
    await until(page, "the results of that run", async () => (await marked()).length === 2);
    await until(page, "the end in the manifest", () => ended() === "stopped");
    await page.locator(".sidebar .pane", { hasText: "app, " }).first().waitFor();
    await until(page, "the ranking of that run", async () =>
      (await vscode.rankingRows()).some((row) => row.startsWith(`two-threads.cpp:${sampleLines.longer}`)),
    );
  });

  function ended() {
    return JSON.parse(readFileSync(path.join(run, "run.json"), "utf8")).ended;
  }
}
