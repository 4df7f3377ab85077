/** The Runs view: recorded runs, listed, opened, compared and deleted. */
import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { thisRecorder, writeLoop, writeRun } from "../support/runs.mjs";
import { appears, frameWith, patience, until } from "./workbench.mjs";

const plain = (text) => (text ?? "").replaceAll("\u00a0", " ").trim();

export async function runsTests({ test, vscode, page, workspace }) {
  const view = page.locator(".sidebar .pane", { has: page.locator(".pane-header", { hasText: /^Runs/ }) });
  const list = view.locator(".monaco-list-row");
  const rows = async () => (await list.allTextContents()).map(plain);
  const names = async () => (await list.locator(".label-name").allTextContents()).map(plain);
  const row = (text) => list.filter({ hasText: text }).first();
  const runFolder = (name) => path.join(workspace.folder, ".fulcrum/runs", name);
  const crashed = "20261121T140000Z-crasher";

  /** Whether the list has the keyboard focus. Without the focus, a row stays marked. */
  const holdsFocus = () =>
    list.first().evaluate((it) => it.closest(".monaco-list")?.contains(document.activeElement) ?? false);

  await test("the runs of the workspace, of every kind, newest first", async () => {
    await vscode.command("Notifications: Clear All Notifications");
    await vscode.command("View: Close All Editors");
    writeLoop(workspace.folder);
    writeRun(workspace.folder, crashed, {
      ...{ kind: "causal", command: "build/crasher", arguments: ["--fast"], ended: "signalled", signal: 11 },
      ...{ options: { duration: 20, sourceScope: ["src/%"] }, gitRevision: "0123456789abcdef0123456789abcdef01234567" },
    });
    writeRun(workspace.folder, "20261121T143000Z-server", { command: "build/server", ...thisRecorder });
    await vscode.command("Fulcrum: Show Runs");
    // Fold the other views to make room for this one.
    for (const other of ["Ranking", "Navigator"]) {
      const header = page.locator(".sidebar .pane-header", { hasText: new RegExp(`^${other}`) });
      if ((await header.getAttribute("aria-expanded")) === "true") {
        await header.click();
      }
    }
    const shown = await until(page, "seven rows", async () => {
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

  await test("a run's hover has its command, options and revision", async () => {
    const hover = page.locator(".monaco-hover", { hasText: "Ended by SIGSEGV" }).first();
    await until(page, "the tooltip", async () => {
      await page.mouse.move(900, 500);
      await row(/^crasher/).hover();
      return appears(hover, patience);
    });
    const text = plain(await hover.textContent());
    assert.match(text, /crasher: causal profile/);
    assert.match(text, /build\/crasher --fast/);
    assert.match(text, /duration 20.*sourceScope \["src\/%"\]/);
    assert.match(text, /Revision 0123456789ab/);
    await page.mouse.move(900, 500);
  });

  await test("keys unfold a refine loop to its iterations, and it opens as its table", async () => {
    await row(/^shop/).click();
    await page.locator(".tab.active", { hasText: "Refine" }).waitFor();
    const table = await frameWith(page, "[aria-label='Refine loop'] tbody tr");
    await until(page, "four iterations", async () => (await table.locator("tbody tr").count()) === 4);
    assert.equal(plain(await table.locator("#says").textContent()), "The set is stable: 12 hotspots.");
    const metered = await table.locator("tbody tr td:nth-child(5)").allTextContents();
    assert.deepEqual(metered.map(plain), ["912,411", "190,242", "6,180", "5,904"]);
    // The table took the focus, but the arrow keys must go to the list. A page that was just drawn may take the focus back, so
    // try again until the list has it.
    await until(page, "the list in focus", async () => {
      await vscode.command("Fulcrum: Show Runs");
      return await holdsFocus();
    });
    const marked = () => row(/^shop/).evaluate((it) => it.classList.contains("focused"));
    await until(page, "the loop in focus", async () => {
      await page.keyboard.press("Home");
      for (let step = 0; step < 10 && !(await marked()); step += 1) {
        await page.keyboard.press("ArrowDown");
      }
      return (await marked()) && (await holdsFocus());
    });
    await page.keyboard.press("ArrowRight");
    await until(
      page,
      "iterations",
      async () => (await rows()).filter((text) => /^Iteration \d/.test(text)).length === 4,
    );
    assert.match(
      await row(/^Iteration 2/).getAttribute("aria-label"),
      /^Iteration 2, event trace, iteration 2 of a refine/,
    );
  });

  await test("two runs are compared from the list", async () => {
    await vscode.command("View: Close All Editors");
    const serials = list.filter({ hasText: /^serial/ });
    await vscode.contextMenu(serials.last(), "Select Run for Compare");
    await vscode.contextMenu(serials.nth((await serials.count()) - 2), "Compare with Selected");
    await page.locator(".tab.active", { hasText: "↔" }).waitFor();
  });

  await test("the menu and the key delete a run after a question", async () => {
    await vscode.command("View: Close All Editors");
    const dialog = page.locator(".monaco-dialog-box");
    await vscode.contextMenu(row(/^crasher/), "Delete…");
    await dialog.locator(".dialog-message-text", { hasText: "Delete the run crasher" }).waitFor();
    await dialog.locator(".monaco-button", { hasText: "Cancel" }).click();
    assert.ok(existsSync(runFolder(crashed)), "it is still there");
    // A click selects and opens it. It has no results.
    await row(/^crasher/).click();
    await page.locator(".sidebar .pane-header[aria-expanded=true]", { hasText: /^Ranking/ }).waitFor();
    assert.ok(await holdsFocus(), "the keys are still the list's");
    await page.keyboard.press("Delete");
    await dialog.locator(".dialog-message-text", { hasText: "Delete the run crasher" }).waitFor();
    await dialog.locator(".monaco-button", { hasText: /^Delete$/ }).click();
    await until(page, "the row to go", async () => !(await rows()).some((text) => /^crasher/.test(text)));
    assert.ok(!existsSync(runFolder(crashed)), "it is gone from the disk");
  });

  await test("without runs, the view says what it is for", async () => {
    rmSync(path.join(workspace.folder, ".fulcrum"), { recursive: true });
    await view
      .locator(".welcome-view-content", { hasText: "Everything that Fulcrum records in this workspace" })
      .waitFor();
    await page.mouse.move(900, 500);
  });
}
