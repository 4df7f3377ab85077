/** The first look: a workspace with results, a window without a folder, and one in Restricted Mode. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { frameWith, until } from "./workbench.mjs";

/** The settings of a user, not of tests. */
export function prepareWelcome(folder) {
  mkdirSync(path.join(folder, ".vscode"));
  writeFileSync(path.join(folder, ".vscode/settings.json"), JSON.stringify({ "fulcrum.showFirstResult": true }));
}

export async function welcomeTests({ test, vscode, page }) {
  await test("a workspace with a recorded run shows the Ranking at first, and says what to do", async () => {
    await vscode.openFile("two-threads.cpp");
    const said = page.locator(".notifications-toasts .notification-list-item-message", { hasText: "best line" });
    await said.waitFor();
    assert.match(await said.textContent(), /make it faster, run again, and compare\.$/);
    await page.locator(".sidebar .monaco-list-row", { hasText: "two-threads.cpp:14" }).first().waitFor();
    await page.locator(".sidebar .monaco-list-row", { hasText: "Next: speed it up" }).waitFor();
    await page.locator(".notifications-toasts .monaco-button", { hasText: "Go to Line" }).click();
    await page.locator(".statusbar-item", { hasText: "Ln 14," }).waitFor();
  });
}

export async function emptyTests({ test, vscode, page }) {
  await test("the walkthrough's first step shows results in a window without a folder", async () => {
    await vscode.command("Fulcrum: Open Walkthrough");
    const step = page.locator(".getting-started-step", { hasText: "See a result" });
    await step.click();
    await step.locator(".monaco-button, button", { hasText: "Open the Sample" }).first().click();
    await page.locator(".tab.active", { hasText: "serial.cpp" }).waitFor();
    const cells = await until(page, "shapes on both loops", async () => {
      const shown = await vscode.gutterCells();
      return shown[8] !== undefined && shown[14] !== undefined && shown;
    });
    assert.deepEqual(Object.keys(cells).map(Number), [8, 14]);
    const rows = await until(page, "both lines in the ranking", async () => {
      const shown = await vscode.rankingRows();
      return shown.filter((row) => row.startsWith("serial.cpp:")).length === 2 && shown;
    });
    assert.match(rows[0], /^serial\.cpp:8\+3\d % if 2× faster/);
    // Its file is found, although no folder is open.
    assert.ok(rows.every((row) => !row.includes("not in the workspace")));
  });

  await test("the sample's second run shows the effect of the change", async () => {
    await vscode.command("Fulcrum: Compare the Sample's Runs");
    const frame = await frameWith(page, "p.actual");
    assert.match(await frame.locator("p.actual").first().textContent(), /^A visit takes \d+\s% less time/);
  });
}

export async function restrictedTests({ test, vscode, page }) {
  await test("Restricted Mode says why nothing runs, and where to change that", async () => {
    await vscode.openFile("two-threads.cpp");
    await vscode.showRanking();
    await page.locator(".sidebar .pane", { hasText: "Restricted Mode: profiles can be read here" }).first().waitFor();
    await vscode.command("Fulcrum: Run Causal Profiler");
    const said = page.locator(".notifications-toasts .notification-list-item", {
      hasText: "needs a trusted workspace",
    });
    await said.locator(".monaco-button", { hasText: "Manage Workspace Trust" }).click();
    await page.locator(".workspace-trust-editor").waitFor();
  });
}
