/** A recorded run of transactions: opened from the Runs view and looked at, by mouse and by keys. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { askAll, asked, recordShop } from "../support/transactions.mjs";
import { frameWith, settled, until } from "./workbench.mjs";

const plain = (text) => (text ?? "").replaceAll("\u00a0", " ").trim();

export const prepareTransactions = recordShop;

export async function transactionsTests({ test, vscode, page, workspace }) {
  let run;
  const lines = () => run.locator("#types tbody tr");
  /** What rows say, by name. */
  const types = async () =>
    new Map(
      await lines().evaluateAll((all) =>
        all.map((row) => [row.cells[0].lastChild.textContent, [...row.cells].map((cell) => cell.textContent)]),
      ),
    );

  await test("a run of transactions is in the Runs view, and opens from it", async () => {
    await vscode.command("Notifications: Clear All Notifications");
    await vscode.command("View: Close All Editors");
    await vscode.command("Fulcrum: Show Runs");
    const view = page.locator(".sidebar .pane", { has: page.locator(".pane-header", { hasText: /^Runs/ }) });
    const row = view.locator(".monaco-list-row", { hasText: /^shop/ }).first();
    await row.waitFor();
    assert.match(plain(await row.getAttribute("aria-label")), /^shop, transactional profile, /);
    await row.click();
    await page.locator(".tab.active", { hasText: "-shop" }).waitFor();
    run = await frameWith(page, "#types tbody tr");
    await settled(run);
    const found = await types();
    for (const [name, count] of Object.entries(asked)) {
      assert.equal(found.get(`GET /${name}`)?.[2], String(count), `${name} in ${[...found.keys()]}`);
    }
  });

  await test("types are sorted by a column, and unfold to their stages by keys", async () => {
    await run.locator("[data-column=name]").click();
    const names = async () => (await lines().locator("td.name").allTextContents()).map((it) => it.replace(/^[▸▾]/, ""));
    const ours = (await names()).filter((name) => name.startsWith("GET"));
    assert.deepEqual(ours, ["GET /buy", "GET /checkout", "GET /list", "GET /report"]);
    await run.locator("[data-column=waited]").click();
    assert.equal((await names())[0], "GET /checkout");
    await run.locator("#types tr[data-key='GET /checkout']").click();
    await page.keyboard.press("ArrowDown");
    const second = await run.locator("#types tr:focus").getAttribute("data-key");
    assert.notEqual(second, "GET /checkout");
    await run.locator("#types tr[data-key='GET /buy']").focus();
    const stages = run.locator("#types tr.stage");
    // Where no samples may be taken, no type has stages.
    if ((await run.locator("#types tr[data-key='GET /buy']").getAttribute("aria-expanded")) !== null) {
      await page.keyboard.press("ArrowRight");
      await until(page, "stages", async () => (await stages.count()) > 0);
      await page.keyboard.press("ArrowLeft");
      await until(page, "no stages", async () => (await stages.count()) === 0);
    }
  });

  await test("who waits for whom, at which lock, by which call paths", async () => {
    const cells = run.locator("#crosstalk .cell");
    assert.equal(await cells.count(), 1);
    assert.match(
      plain(await cells.locator(".unseen").textContent()),
      /^GET \/checkout waited \d.* for GET \/report: 3 times/,
    );
    await cells.focus();
    await page.keyboard.press("Enter");
    const pair = run.locator("#pair");
    await pair.locator("table").waitFor();
    assert.match(plain(await pair.textContent()), /GET \/checkout waits for GET \/report.*cart_lock \(mutex\)/);
    const [, waiter, holder] = await pair.locator("tbody tr").first().locator("td").allTextContents();
    assert.match(waiter, /checkout$/);
    assert.match(holder, /report$/);
  });

  await test("the stage diagram shows what flowed from the front to the back", async () => {
    const flows = await run.locator("#stagesPart ul li").allTextContents();
    const all = asked.buy + asked.list + asked.report + asked.checkout;
    assert.ok(flows.map(plain).includes(`ask_back → serve_back: ${all} flows by message`), flows.join("\n"));
    assert.equal(await run.locator("#diagram .box[aria-label^='ask_back in shop']").count(), 1);
  });

  await test("one transaction goes through the threads of both processes", async () => {
    await run.locator("#types tr[data-key='GET /buy']").click();
    assert.equal(await run.locator("#wayType").inputValue(), "GET /buy");
    assert.equal(await run.locator("#way option").count(), asked.buy);
    const lanes = run.locator("#lanes .lane:not(.ruler)");
    const processes = await lanes.locator("small").allTextContents();
    assert.equal(new Set(processes.map((it) => /process (\d+)/.exec(it)?.[1])).size, 2, processes.join("\n"));
    const bars = (await lanes.locator(".stay").allTextContents()).map(plain);
    assert.ok(bars.length >= 2, bars.join("\n"));
    const width = async () => (await lanes.first().boundingBox()).width;
    const before = await width();
    await run.locator("#lanes").focus();
    await page.keyboard.press("+");
    await until(page, "a wider lane", async () => (await width()) > before);
  });
  /** The port that the newest shop says; 0 until it does. */
  const newestPort = () => {
    const store = path.join(workspace.folder, ".fulcrum/runs");
    const shops = readdirSync(store).filter((name) => name.includes("-shop"));
    try {
      const [newest] = shops.sort().reverse();
      return Number(readFileSync(path.join(store, newest, "stdout.txt"), "utf8"));
    } catch {
      return 0;
    }
  };

  await test("a server is recorded from the palette, and its run opens when it has ended", async () => {
    await vscode.command("View: Close All Editors");
    await vscode.command("Fulcrum: Run and Profile Transactions");
    await vscode.answer("Run and Profile Transactions", "./shop");
    await askAll(await until(page, "the shop's port", newestPort));
    run = await frameWith(page, "#types tbody tr");
    await settled(run);
    const found = await types();
    assert.equal(found.get("GET /buy")?.[2], String(asked.buy), [...found.keys()].join(", "));
    const notes = await vscode.notifications();
    assert.deepEqual(
      notes.filter((it) => /ended with|stopped/.test(it)),
      [],
    );
  });
}
