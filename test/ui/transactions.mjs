/** A recorded run of transactions: opened from the Runs view and explored by mouse and keys. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { askAll, asked, recordShop } from "../support/transactions.mjs";
import { navigatorPage } from "./navigator.mjs";
import { frameWith, settled, until } from "./workbench.mjs";

const plain = (text) => (text ?? "").replaceAll("\u00a0", " ").trim();

/** Two runs, so that there is something to compare. */
export async function prepareTransactions(workspace) {
  await recordShop(workspace);
  // A run's name has a resolution of one second.
  await recordShop(workspace);
}

export async function transactionsTests({ test, vscode, page, workspace }) {
  let run;
  const store = path.join(workspace.folder, ".fulcrum/runs");
  /** The folders of all runs of the shop, the newest last. */
  const runs = () =>
    readdirSync(store)
      .filter((name) => name.includes("-shop"))
      .sort()
      .map((name) => path.join(store, name));
  /** The folders with measurements of a run's critical sections. */
  const pricesIn = (folder) => {
    const prices = path.join(folder, "prices");
    return existsSync(prices) ? readdirSync(prices).map((name) => path.join(prices, name)) : [];
  };
  const lines = () => run.locator("#types tbody tr");
  /** The cells of rows, by name. */
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

  await test("types can be sorted by a column, and keys unfold them to their stages", async () => {
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
    // Where sampling is not allowed, no type has stages.
    if ((await run.locator("#types tr[data-key='GET /buy']").getAttribute("aria-expanded")) !== null) {
      await page.keyboard.press("ArrowRight");
      await until(page, "stages", async () => (await stages.count()) > 0);
      await page.keyboard.press("ArrowLeft");
      await until(page, "no stages", async () => (await stages.count()) === 0);
    }
  });

  await test("crosstalk shows who waits for whom, at which lock, on which call paths", async () => {
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
    assert.match(plain(await pair.locator(".gain").textContent()), /^Without these waits, GET \/checkout would be /);
    const [, waiter, holder] = await pair.locator("tbody tr").first().locator("td").allTextContents();
    assert.match(waiter, /checkout$/);
    assert.match(holder, /report$/);
  });

  /** The port that a shop printed, from its run's folder; 0 until it does. */
  const portIn = (folder) => {
    try {
      return Number(readFileSync(path.join(folder, "stdout.txt"), "utf8"));
    } catch {
      return 0;
    }
  };

  await test("the price of a critical section is measured on request, and shown beside its lock", async () => {
    await run.locator("#pair .measure").click();
    const price = () => {
      const found = runs().flatMap((folder) => pricesIn(folder));
      return found.map(portIn).find((port) => port > 0) ?? 0;
    };
    await askAll(await until(page, "the shop's port", price));
    const said = run.locator("#pair .price strong");
    await said.waitFor();
    // The shop's reports sleep while they hold the lock, so there is nothing to speed up.
    assert.match(
      plain(await said.textContent()),
      /^GET \/checkout waits \d.* behind GET \/report on cart_lock; what that section is worth is not known: /,
    );
    assert.equal(await run.locator("#pair .measure").textContent(), "Measure Again");
  });

  /** Returns to the run after the source was shown beside it. */
  const backToRun = async () => {
    await page.locator(".tab", { hasText: "-shop" }).first().click();
    run = await frameWith(page, "#types tbody tr");
  };

  await test("a function in a call path leads to its source", async () => {
    await run.locator("#pair [data-frame='checkout']").first().click();
    await page.locator(".tab.active", { hasText: "shop.c" }).waitFor();
    await page.locator(".statusbar-item", { hasText: /^Ln 3\d,/ }).waitFor();
    await backToRun();
  });

  await test("the stage diagram shows the flows from the front to the back", async () => {
    const flows = await run.locator("#stagesPart ul li").allTextContents();
    const all = asked.buy + asked.list + asked.report + asked.checkout;
    assert.ok(flows.map(plain).includes(`ask_back → serve_back: ${all} flows by message`), flows.join("\n"));
    assert.equal(await run.locator("#diagram .box[aria-label^='ask_back in shop']").count(), 1);
  });

  await test("a transaction is shown across the threads of both processes", async () => {
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

  await test("keys follow a transaction from thread to thread, and open the source", async () => {
    await run.locator("#lanes").focus();
    await page.keyboard.press("0");
    const focused = run.locator("#lanes .stay:focus");
    const order = async () => Number(await focused.getAttribute("data-order"));
    const lane = () =>
      focused.evaluate((bar) => [...bar.closest("#lanes").children].indexOf(bar.closest(".lane")), undefined);
    await page.keyboard.press("Home");
    assert.equal(await order(), 0);
    const first = await lane();
    await page.keyboard.press("ArrowRight");
    assert.equal(await order(), 1);
    assert.notEqual(await lane(), first, "another thread continues the transaction");
    await page.keyboard.press("ArrowUp");
    assert.equal(await lane(), first);
    await page.keyboard.press("End");
    assert.equal(await order(), (await run.locator("#lanes .stay").count()) - 1);
    // The back works on what `ask_back` sent.
    const source = run.locator("#lanes .stay.source[title*='It came by ask_back']").first();
    await source.click();
    await page.keyboard.press("Enter");
    await page.locator(".tab.active", { hasText: "shop.c" }).waitFor();
    await page.locator(".statusbar-item", { hasText: /^Ln 59,/ }).waitFor();
    await backToRun();
  });

  /** Whether the machine allows CPU samples. Without them, types have no call trees. */
  const hasSamples = async () => (await run.locator("#types tr[data-key='GET /buy'][aria-expanded]").count()) === 1;

  await test("a type opens in the Navigator, with its hot lines beside the code", async () => {
    await run.locator("#types tr[data-key='GET /buy']").click();
    assert.equal(plain(await run.locator("#typeActions strong").textContent()), "GET /buy");
    if (!(await hasSamples())) {
      return;
    }
    await run.locator("#typeActions [data-action=search]").click();
    const navigator = await navigatorPage(page);
    const rows = await until(page, "the functions of the type", async () => {
      const shown = await navigator.rows();
      return shown.some((row) => row.name === "compute") && shown;
    });
    assert.ok(rows.some((row) => row.name === "serve_back"));
    assert.match(plain(await navigator.frame.locator(".title").first().textContent()), /^GET \/buy, .*-shop/);
    await vscode.openFile("shop.c");
    await vscode.goToLine(24);
    const cells = await until(page, "bars in the gutter", async () => {
      const shown = await vscode.gutterCells();
      return Object.keys(shown).length > 0 && shown;
    });
    // The loop of `compute`.
    const hot = Object.keys(cells).map(Number);
    assert.ok(
      hot.some((line) => line >= 21 && line <= 26),
      hot.join(", "),
    );
    await backToRun();
  });

  await test("two types are compared by the cost of one transaction", async () => {
    await run.locator("#types tr[data-key='GET /buy']").focus();
    await page.keyboard.press("c");
    await vscode.answer("Compare GET /buy (A) With (B)", "GET /list");
    const navigator = await navigatorPage(page);
    const title = navigator.frame.locator(".title").first();
    await until(page, "the comparison", async () => (await title.textContent()) === "GET /buy − GET /list");
    const notes = plain(await navigator.frame.locator("body").textContent());
    if (await hasSamples()) {
      assert.match(
        notes,
        /CPU time of one transaction: the mean of 12 of GET \/buy \(A\) and of 12 of GET \/list \(B\)/,
      );
    }
    await backToRun();
  });

  await test("two runs from the Runs view are compared type by type, and a type in the Navigator", async () => {
    await vscode.command("View: Close All Editors");
    await vscode.command("Fulcrum: Show Runs");
    const view = page.locator(".sidebar .pane", { has: page.locator(".pane-header", { hasText: /^Runs/ }) });
    const shops = view.locator(".monaco-list-row", { hasText: /^shop/ });
    await shops.nth(1).waitFor();
    await vscode.contextMenu(shops.nth(1), "Select Run for Compare");
    await page.locator(".statusbar-item", { hasText: "is the run before the change" }).waitFor();
    await vscode.contextMenu(shops.nth(0), "Compare with Selected");
    const compared = await frameWith(page, "#compared tbody tr");
    await settled(compared);
    const row = compared.locator("#compared tr[data-type='GET /buy']");
    const cells = (await row.locator("td").allTextContents()).map(plain);
    assert.deepEqual(cells.slice(0, 2), ["GET /buy", `${asked.buy} / ${asked.buy}`]);
    assert.match(plain(await row.getAttribute("aria-label")), /^GET \/buy: 12 transactions in A, 12 in B; /);
    await row.locator("button").click();
    const navigator = await navigatorPage(page);
    const title = navigator.frame.locator(".title").first();
    const both = /^GET \/buy \(.*-shop.*\) − GET \/buy \(.*-shop.*\)$/;
    await until(page, "the comparison", async () => both.test((await title.textContent()) ?? ""));
    await vscode.command("View: Close All Editors");
  });

  /** The port that the newest shop printed; 0 until it does. */
  const newestPort = () => portIn(runs().at(-1));

  await test("a server is recorded from the palette and viewed while it runs, and its run opens when it ends", async () => {
    await vscode.command("View: Close All Editors");
    await vscode.command("Fulcrum: Run and Profile Transactions");
    await vscode.answer("Run and Profile Transactions", "./shop");
    const port = await until(page, "the shop's port", newestPort);
    run = await frameWith(page, "#live:not([hidden])");
    const standing = run.locator("#standing", { hasText: /^\d+ s · 2 processes, 2 running · / });
    await standing.waitFor();
    // The results so far are reloaded automatically.
    await askAll(port, async () => {
      await until(page, "all requests", async () => (await types()).get("GET /buy")?.[2] === String(asked.buy));
      assert.equal(await run.locator("#live").isVisible(), true);
      await run.locator("#types tr[data-key='GET /list']").click();
    });
    await run.locator("#live").waitFor({ state: "hidden" });
    await run.locator("#again").waitFor();
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
