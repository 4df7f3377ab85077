/** A run while it goes on, seen and steered as a person does. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { until } from "./workbench.mjs";

/** The processes of a program that are not over. */
function processesOf(program) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const own = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0")[0] === program;
        return own && !/^State:\s+Z/m.test(readFileSync(`/proc/${name}/status`, "utf8"));
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** How the newest run of the workspace ended, as its manifest says. */
function lastRun(folder) {
  const runs = path.join(folder, ".fulcrum/runs");
  const newest = readdirSync(runs)
    .filter((name) => name.endsWith("-serial") || /-serial-\d+$/.test(name))
    .sort()
    .at(-1);
  return JSON.parse(readFileSync(path.join(runs, newest, "run.json"), "utf8"));
}

export async function liveTests({ test, vscode, page, workspace, shot }) {
  const program = path.join(workspace.folder, "build/serial");
  const status = async () => (await vscode.statusText()) ?? "";
  const experiments = async () => Number(/(\d+)\sexperiment/.exec(await status())?.[1] ?? 0);
  const titleButton = (name) =>
    page
      .locator(`.sidebar .title-actions [aria-label^="${name}"], .sidebar .actions-container [aria-label^="${name}"]`)
      .first();

  /** Through the wizard, to the end of the program, which has none. */
  async function start() {
    await vscode.command("Fulcrum: Run Causal Profiler");
    await vscode.answer("(1/4)", "build/serial");
    await vscode.answer("(2/4)");
    await vscode.answer("(3/4)");
    await vscode.answer("(4/4)", "");
    await until("experiments in the status bar", async () => (await experiments()) > 0);
  }

  await test("the gutter fills in while the program runs", "live", async () => {
    await vscode.openFile("serial.cpp");
    await vscode.showRanking();
    await vscode.command("Notifications: Clear All Notifications");
    await vscode.command("Fulcrum: Clear Results");
    await until("an empty gutter", async () => Object.keys(await vscode.gutterCells()).length === 0);
    await start();
    await until("a shape in the gutter", async () => Object.keys(await vscode.gutterCells()).length > 0);
    const [pid] = processesOf(program);
    assert.ok(pid !== undefined, "the marks were there while the program was running");
    await until("a row in the ranking", async () =>
      (await vscode.rankingRows()).some((row) => /^serial\.cpp:\d+/.test(row)),
    );
    await page.locator(".sidebar .message", { hasText: "Live: serial is still running" }).waitFor();
    // Enough experiments to be worth a picture; the numbers keep growing.
    await until("thirty experiments", async () => (await experiments()) >= 30);
    assert.deepEqual(processesOf(program), [pid]);
  });

  await test("pause in the view's title stops the experiments, not the program; resume goes on", "paused", async () => {
    await page.locator(".sidebar .pane-header", { hasText: "Ranking" }).hover();
    await titleButton("Pause the Causal Profiler").click();
    await until("the pause in the status bar", async () => /paused/.test(await status()));
    // The experiment that was going on is still counted, and said when the engine comes to it. One that is not paused is
    // over in half a second.
    const counted = await until("three seconds without a new experiment", async () => {
      const before = await experiments();
      await page.waitForTimeout(3000);
      return before > 0 && (await experiments()) === before && before;
    });
    assert.match(await status(), /paused/);
    assert.equal(processesOf(program).length, 1);
    await shot("paused-title");
    await titleButton("Resume the Causal Profiler").click();
    await until("more experiments", async () => (await experiments()) > counted);
    assert.doesNotMatch(await status(), /paused/);
  });

  await test("the status bar's menu steers the run", "live-menu", async () => {
    await page.locator("[id*='fulcrum.status']").first().click();
    for (const label of ["Pause", "Stop and show results", "Change scope or target…", "Let it run"]) {
      await page.locator(".quick-input-list .monaco-list-row", { hasText: label }).first().waitFor();
    }
    await shot("live-menu-open");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "Change scope or target…" }).click();
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "Functions with Callees" }).waitFor();
  });
  await page.keyboard.press("Escape");

  await test("cancel in the notification stops the program and keeps the results", "live-stopped", async () => {
    await vscode.command("Notifications: Show Notifications");
    const cancel = page
      .locator(".notifications-center .monaco-button, .notifications-toasts .monaco-button", { hasText: "Cancel" })
      .first();
    await cancel.click();
    await until("the program to end", () => processesOf(program).length === 0);
    await until("the end in the status bar", async () => !/experiment/.test(await status()));
    assert.ok(Object.keys(await vscode.gutterCells()).length > 0);
    assert.equal(lastRun(workspace.folder).ended, "stopped");
    await vscode.command("Notifications: Clear All Notifications");
  });

  await test("a window that is reloaded during a run loses nothing of it", "reloaded", async () => {
    await vscode.openFile("serial.cpp");
    await start();
    await until("a live shape in the gutter", async () => Object.keys(await vscode.gutterCells()).length > 0);
    await until("twenty experiments", async () => (await experiments()) >= 20);
    await page.reload();
    await vscode.ready();
    await vscode.openFile("serial.cpp");
    await until("the results of that run", async () => Object.keys(await vscode.gutterCells()).length > 0);
    await until("the program to end", () => processesOf(program).length === 0);
    await until("the end in the manifest", () => lastRun(workspace.folder).ended === "stopped");
    await until("the ranking of that run", async () =>
      (await vscode.rankingRows()).some((row) => /^serial\.cpp:\d+/.test(row)),
    );
  });
}
