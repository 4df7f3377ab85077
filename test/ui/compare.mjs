/** A comparison of two runs, before and after a fix, from the explorer: what it shows, its keys and links. */
import assert from "node:assert/strict";
import { fixedRuns } from "../support/stage.mjs";
import { until } from "./workbench.mjs";

export async function compareTests({ test, vscode, page }) {
  // The Navigator's page exists too, behind the explorer.
  const view = page.frameLocator("iframe.webview.ready:visible").frameLocator("iframe#active-frame");

  const choose = (run, item) => vscode.contextMenu(vscode.explorerRow(run), item);

  await test("two runs from the explorer open as predicted and actual, side by side", async () => {
    await vscode.command("Notifications: Clear All Notifications");
    await vscode.command("View: Close All Editors");
    await vscode.command("File: Focus on Files Explorer");
    await vscode.reveal(".fulcrum", "runs", fixedRuns.before);
    await choose(fixedRuns.before, "Select Run for Compare");
    await page.locator(".statusbar-item", { hasText: "is the run before the change" }).waitFor();
    await choose(fixedRuns.after, "Compare with Selected");
    await view.locator("h1", { hasText: "Predicted and Actual" }).waitFor();
    await view.locator("table").first().waitFor();
    const actual = await view.locator("p.actual").first().textContent();
    assert.match(actual, /^A visit takes \d+\s% less time \(95 % interval .* to .*\): .* visits a second before/);
    const first = view.locator("tbody tr").first();
    const cells = (await first.locator("th, td").allTextContents()).map((text) => text.trim());
    // The first loop does half of its work: its line is about 50 % faster, so the program is 35 % faster.
    assert.equal(cells[0], "serial.cpp:10");
    for (const column of [2, 3, 4]) {
      assert.match(cells[column], /^\+\d+(\.\d)?\s% \[.+,\s.+\]/, `column ${column}`);
    }
    assert.match(await view.locator("td.verdict").first().textContent(), /^It costs \d+.* less a visit/);
    const [box, shown] = [await view.locator("table").first().boundingBox(), page.viewportSize()];
    assert.ok(box.x + box.width <= shown.width, "the whole table fits beside the explorer");
    assert.match(await first.locator("svg").getAttribute("aria-label"), /^Predicted \+.*, actual \+/);
    assert.ok((await first.locator("svg rect").count()) === 2, "both intervals are drawn");
  });

  await test("arrows move from row to row, Enter opens the line", async () => {
    const buttons = view.locator("tbody th button");
    await buttons.first().focus();
    await page.keyboard.press("ArrowDown");
    await until(page, "the second row", () =>
      buttons.nth(1).evaluate((node) => node === node.ownerDocument.activeElement),
    );
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.locator(".tab.active", { hasText: "serial.cpp" }).waitFor();
    await page.locator(".statusbar-item", { hasText: "Ln 10," }).waitFor();
    await page.locator(".tab", { hasText: "↔" }).first().click();
    await view.locator("table").first().waitFor();
  });

  await test("swapping the runs reverses the answer", async () => {
    await view.locator("button", { hasText: "Swap" }).click();
    await view.locator("p.actual", { hasText: "more time" }).waitFor();
    await view.locator("button", { hasText: "Swap" }).click();
    await view.locator("p.actual", { hasText: "less time" }).waitFor();
  });

  await vscode.command("View: Close All Editors");
}
