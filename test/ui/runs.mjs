/** The Runs view: what was recorded, as a list that one looks at, opens from, compares in, and deletes from. */
import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { thisRecorder, writeLoop, writeRun } from "../support/runs.mjs";
import { appears, frameWith, patience, until } from "./workbench.mjs";

const plain = (text) => (text ?? "").replaceAll("\u00a0", " ").trim();

export async function runsTests({ test, vscode, page, shot, configure, workspace }) {
  const view = page.locator(".sidebar .pane", { has: page.locator(".pane-header", { hasText: /^Runs/ }) });
  const list = view.locator(".monaco-list-row");
  const rows = async () => (await list.allTextContents()).map(plain);
  const names = async () => (await list.locator(".label-name").allTextContents()).map(plain);
  const row = (text) => list.filter({ hasText: text }).first();
  const runFolder = (name) => path.join(workspace.folder, ".fulcrum/runs", name);
  const crashed = "20261121T140000Z-crasher";

  await test("the runs of the workspace, of every kind, newest first", "runs", async () => {
    await vscode.command("Notifications: Clear All Notifications");
    await vscode.command("View: Close All Editors");
    writeLoop(workspace.folder);
    writeRun(workspace.folder, crashed, {
      ...{ kind: "causal", command: "build/crasher", arguments: ["--fast"], ended: "signalled", signal: 11 },
      ...{ options: { duration: 20, sourceScope: ["src/%"] }, gitRevision: "0123456789abcdef0123456789abcdef01234567" },
    });
    writeRun(workspace.folder, "20261121T143000Z-server", { command: "build/server", ...thisRecorder });
    await vscode.command("Fulcrum: Show Runs");
    // Folded views leave room for this one.
    for (const other of ["Ranking", "Navigator"]) {
      const header = page.locator(".sidebar .pane-header", { hasText: new RegExp(`^${other}`) });
      if ((await header.getAttribute("aria-expanded")) === "true") {
        await header.click();
      }
    }
    const shown = await until("seven rows", async () => {
      const texts = await rows();
      return texts.some((text) => /^server/.test(text)) && texts.some((text) => /^shop/.test(text)) && texts;
    });
    assert.deepEqual(
      (await names()).filter((name) => ["server", "shop.Main", "crasher", "two-threads"].includes(name)),
      ["server", "shop.Main", "crasher", "two-threads"],
    );
    assert.match(
      shown.find((text) => /^server/.test(text)),
      /· running ·/,
    );
    assert.match(
      shown.find((text) => /^crasher/.test(text)),
      /· ended by SIGSEGV ·/,
    );
    await page.mouse.move(900, 500);
  });

  await test("pointing at a run tells its command, options and revision", "runs-tooltip", async () => {
    const hover = page.locator(".monaco-hover", { hasText: "Ended by SIGSEGV" }).first();
    await until("the tooltip", async () => {
      await page.mouse.move(900, 500);
      await row(/^crasher/).hover();
      return appears(hover, patience);
    });
    const text = plain(await hover.textContent());
    assert.match(text, /crasher: causal profile/);
    assert.match(text, /build\/crasher --fast/);
    assert.match(text, /duration 20.*sourceScope \["src\/%"\]/);
    assert.match(text, /Revision 0123456789ab/);
    await shot("runs-tooltip-open");
    await page.mouse.move(900, 500);
  });

  await test("a refine loop unfolds to its iterations by keys, and opens as its table", "runs-loop", async () => {
    await row(/^shop/).click();
    await page.locator(".tab.active", { hasText: "Refine" }).waitFor();
    const table = await frameWith(page, "[aria-label='Refine loop'] tbody tr");
    await until("four iterations", async () => (await table.locator("tbody tr").count()) === 4);
    assert.equal(plain(await table.locator("#says").textContent()), "The set of 12 hotspots is stable.");
    const metered = await table.locator("tbody tr td:nth-child(5)").allTextContents();
    assert.deepEqual(metered.map(plain), ["912,411", "190,242", "6,180", "5,904"]);
    // The focus went to the table; the arrow keys are for the list.
    await vscode.command("Fulcrum: Show Runs");
    await until("the loop in focus", async () => {
      await page.keyboard.press("Home");
      for (
        let step = 0;
        step < 10 && !(await row(/^shop/).evaluate((it) => it.classList.contains("focused")));
        step += 1
      ) {
        await page.keyboard.press("ArrowDown");
      }
      return row(/^shop/).evaluate((it) => it.classList.contains("focused"));
    });
    await page.keyboard.press("ArrowRight");
    await until("iterations", async () => (await rows()).filter((text) => /^Iteration \d/.test(text)).length === 4);
    assert.match(
      await row(/^Iteration 2/).getAttribute("aria-label"),
      /^Iteration 2, event trace, iteration 2 of a refine/,
    );
  });

  await test("light", "runs-light", async () => {
    await themed("Default Light Modern");
  });
  await test("high contrast", "runs-high-contrast", async () => {
    await themed("Default High Contrast");
  });
  await test("dark", "runs-dark", async () => {
    await themed("Default Dark Modern");
  });

  async function themed(theme) {
    const colour = () => view.evaluate((node) => getComputedStyle(node).color);
    const table = await frameWith(page, "[aria-label='Refine loop'] tbody tr");
    const inside = () => table.locator("body").evaluate((node) => getComputedStyle(node).color);
    const before = [await colour(), await inside()];
    configure({ "workbench.colorTheme": theme });
    await until("other colours", async () => (await colour()) !== before[0] && (await inside()) !== before[1]);
    await page.waitForTimeout(400);
  }

  await test("two runs are compared from the list", "runs-compared", async () => {
    await vscode.command("View: Close All Editors");
    const serials = list.filter({ hasText: /^serial/ });
    await vscode.contextMenu(serials.last(), "Select Run for Compare", () => shot("runs-menu"));
    await vscode.contextMenu(serials.nth((await serials.count()) - 2), "Compare with Selected");
    await page.locator(".tab.active", { hasText: "↔" }).waitFor();
    await page.waitForTimeout(300);
  });

  await test("a run is deleted after a question, by the menu and by the key", "runs-deleted", async () => {
    await vscode.command("View: Close All Editors");
    const dialog = page.locator(".monaco-dialog-box");
    await vscode.contextMenu(row(/^crasher/), "Delete…");
    await dialog.locator(".dialog-message-text", { hasText: "Delete the run crasher" }).waitFor();
    await shot("runs-question");
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    assert.ok(existsSync(runFolder(crashed)), "it is still there");
    // A click selects it, and opens it: it has no results.
    await row(/^crasher/).click();
    await page.locator(".sidebar .pane-header[aria-expanded=true]", { hasText: /^Ranking/ }).waitFor();
    await vscode.command("Fulcrum: Show Runs");
    // The list has the focus a moment after the command. Escape would take the selection away.
    await until("the question", async () => {
      await page.keyboard.press("Delete");
      return appears(dialog, patience);
    });
    await dialog.locator(".monaco-button", { hasText: /^Delete$/ }).click();
    await until("the row to go", async () => !(await rows()).some((text) => /^crasher/.test(text)));
    assert.ok(!existsSync(runFolder(crashed)), "it is gone from the disk");
  });

  await test("without runs the view says what it is for", "runs-empty", async () => {
    rmSync(path.join(workspace.folder, ".fulcrum"), { recursive: true });
    await view.locator(".welcome-view-content", { hasText: "What Fulcrum records in this workspace" }).waitFor();
    await page.mouse.move(900, 500);
  });
}
