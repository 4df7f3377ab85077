/** A trace of samples/dispatcher: recorded, browsed, refined, compared, as a person does. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { root } from "../support/root.mjs";
import { navigatorPage } from "./navigator.mjs";
import { appears, frameWith, patience, until, walk } from "./workbench.mjs";

const plain = (text) => (text ?? "").replaceAll("\u00a0", " ").trim();
const requests = 60;
const command = `java -cp dispatcher/build dispatcher.Main --requests ${requests} --scale 0.02 --seed 3`;

/** Copies the sample into the workspace and compiles it there. */
export function buildDispatcher(folder) {
  const sample = path.join(folder, "dispatcher");
  cpSync(path.join(root, "samples/dispatcher"), sample, {
    recursive: true,
    filter: (file) => path.basename(file) !== "build",
  });
  // For who types nonsense: editors may save it at once.
  cpSync(path.join(sample, "dispatcher.fulcrum-filter"), path.join(folder, "scratch.fulcrum-filter"));
  const build = path.join(sample, "build");
  mkdirSync(build, { recursive: true });
  const sources = path.join(sample, "src/dispatcher");
  const files = readdirSync(sources).map((name) => path.join(sources, name));
  const result = spawnSync("javac", ["-g", "-d", build, ...files], { encoding: "utf8" });
  if (result.status !== 0) {
    throw new Error(`javac failed on samples/dispatcher: ${result.stderr || result.error}`);
  }
}

export async function traceTests({ test, vscode, page, shot, configure, workspace, enginePid }) {
  let trace;

  const runs = () =>
    readdirSync(path.join(workspace.folder, ".fulcrum/runs"))
      .filter((name) => /-dispatcher\.Main(-refine)?(-\d+)*$/.test(name))
      .sort();
  /** Rows on screen: `name | cells`, the chosen one marked. */
  const rows = async () =>
    (
      await trace.locator("#events .row:not(.pending)").evaluateAll((all) =>
        all.map((row) => ({
          name: row.querySelector(".name bdi").textContent,
          queue: row.querySelector(".queueing")?.textContent ?? "",
          label: row.getAttribute("aria-label"),
          level: Number(row.getAttribute("aria-level")),
          active: row.classList.contains("active"),
        })),
      )
    ).map((row) => ({ ...row, queue: plain(row.queue), label: plain(row.label) }));
  const active = async () => (await rows()).find((row) => row.active);
  const drawn = () => trace.locator("#drawing").evaluate((canvas) => Number(canvas.dataset.drawn ?? 0));
  const focus = () => trace.locator("#events").focus();

  /** Goes down by keys to the first row with this name, below another if one is given. */
  async function go(name, below) {
    await focus();
    let passed = below === undefined;
    await walk({
      page,
      list: trace.locator("#events"),
      name: ".name bdi",
      wanted: (text) => {
        const here = passed && name.test(text);
        passed ||= below?.test(text) === true;
        return here;
      },
    });
    return until(`the row ${name}`, active);
  }

  /** Unfolds the active row. */
  async function unfold(what, shown) {
    await page.keyboard.press("ArrowRight");
    return until(what, shown);
  }

  async function openTrace() {
    await page.locator(".tab.active", { hasText: "-dispatcher.Main" }).waitFor();
    trace = await frameWith(page, "#trace:not([hidden]) #events");
    await until("rows", async () => (await rows()).length > 3);
    await page.mouse.move(5, 5);
  }

  await test("a filter says what is wrong with it, and completes directives", "filter", async () => {
    await vscode.command("View: Close All Editors");
    await vscode.openFile("scratch.fulcrum-filter");
    await page.locator(".statusbar-item", { hasText: "Fulcrum Filter" }).waitFor();
    await vscode.goToLine(22, 1);
    await page.keyboard.press("Control+End");
    await page.keyboard.type("\nincludemethod dispatcher.Main main\nexc");
    const widget = page.locator(".suggest-widget .monaco-list-row", { hasText: "excludemethod" }).first();
    await until("completions", async () => {
      if (await appears(widget, patience)) {
        return true;
      }
      await page.keyboard.press("Control+Space");
      return false;
    });
    await until(
      "the shadowed rule",
      async () => (await page.locator(".squiggly-unnecessary, .squiggly-warning").count()) > 0,
    );
    await shot("filter-completion");
    await page.keyboard.press("Escape");
    await vscode.command("View: Revert and Close Editor");
  });

  await test("a trace of the sample is recorded from the palette and opens", "trace", async () => {
    await vscode.command("Notifications: Clear All Notifications");
    await vscode.command("View: Close Primary Side Bar");
    await vscode.command("Fulcrum: Record a Trace");
    await vscode.answer("(1/2)", command);
    await page.locator(".quick-input-title", { hasText: "(2/2)" }).waitFor();
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "dispatcher.fulcrum-filter" }).click();
    await openTrace();
    await until("the program's threads", async () => {
      const names = (await rows()).map((row) => row.name);
      return ["main", "Receiver-1", "Dispatcher-1", "Dispatcher-2", "Dispatcher-3"].every((it) => names.includes(it));
    });
    await until("threads over time", async () => (await drawn()) > 20);
    await page.waitForTimeout(300);
  });

  await test(
    "threads unfold to events, with the queueing columns of JPMT's Figures 10 and 11",
    "trace-tree",
    async () => {
      await go(/^Dispatcher-2$/);
      await unfold("its events", async () => (await rows()).some((row) => row.level > 1));
      const run = await go(/Dispatcher\.run/, /^Dispatcher-2$/);
      assert.match(run.label, /^dispatcher\.Dispatcher\.run.*wall/);
      const take = await unfold("takes with requests", async () =>
        (await rows()).find(
          (row) => /ThreadPool\.get/.test(row.name) && /^no\. \d+ · #\d+ · [\d.]+ (ns|µs|ms|s)$/.test(row.queue),
        ),
      );
      assert.match(take.label, /request \d+, \d+ in the queue, queued for [\d.]+ (ns|µs|ms|s)/);
      await go(/DispatchRequest\.invoke/, /^Dispatcher-2$/);
      await unfold("what it called", async () => (await rows()).some((row) => /Servant\.pingWithWait/.test(row.name)));
      // A receiver's side of the queue.
      await go(/^Receiver-1$/);
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("/");
      await page.keyboard.type("ThreadPool.add");
      await until("what was found", async () =>
        /^1 of \d+\+?$/.test(plain(await trace.locator("#found").textContent())),
      );
      const put = await until("the put", async () => {
        const row = await active();
        return row !== undefined && /ThreadPool\.add/.test(row.name) && row;
      });
      assert.match(put.queue, /^no\. \d+ · #\d+$/);
      await page.keyboard.press("Enter");
      await page.keyboard.press("n");
      await until("the next one", async () => /^2 of/.test(plain(await trace.locator("#found").textContent())));
    },
  );

  await test("the timeline zooms in on an event, and its calls lead back to the tree", "trace-timeline", async () => {
    await focus();
    await page.keyboard.press("z");
    await page.waitForTimeout(400);
    await trace.locator("#drawing").focus();
    for (const key of ["-", "-", "-", "-", "-", "-"]) {
      await page.keyboard.press(key);
    }
    await page.keyboard.press("ArrowDown");
    const box = await trace.locator("#drawing").boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60);
    await until("what is in that second", async () => (await drawn()) > 5);
    await page.waitForTimeout(600);
    await shot("trace-zoomed");
    await page.keyboard.press("Escape");
    await page.mouse.move(5, 5);
    await page.waitForTimeout(300);
  });

  await test("O goes to the method's source", "trace-source", async () => {
    await focus();
    await page.keyboard.press("o");
    await page.locator(".tab.active", { hasText: "ThreadPool.java" }).waitFor();
    await page.locator(".statusbar-item", { hasText: /Ln (1[5-9]|2\d)/ }).waitFor();
    await page.locator(".tab", { hasText: "-dispatcher.Main" }).first().click();
  });

  await test("answers to searches before the last one are left alone", "trace-searches", async () => {
    const found = async () => /^1 of (\d+)\+?$/.exec(plain(await trace.locator("#found").textContent()))?.[1];
    const search = trace.locator("#text");
    await search.fill("ThreadPool.add");
    const hits = await until("what was found", found);
    const engine = enginePid();
    process.kill(engine, "SIGSTOP");
    try {
      for (const text of ["ThreadPool.ad", "ThreadPool.add", "ThreadPool.ad", "ThreadPool.add"]) {
        await search.fill(text);
        // Longer than the page waits for another letter.
        await page.waitForTimeout(400);
      }
    } finally {
      process.kill(engine, "SIGCONT");
    }
    await until("what was found", found);
    // Two of the four answers are to this text.
    await page.waitForTimeout(1_000);
    assert.equal(await found(), hits);
    await search.fill("");
    await focus();
  });

  await test("the lane that was gone to stays the chosen one when rows come", "trace-lane", async () => {
    await go(/Dispatcher\.run/, /^Dispatcher-2$/);
    await trace.locator("#drawing").focus();
    await page.keyboard.press("ArrowDown");
    const lane = plain(await trace.locator("#spoken").textContent());
    assert.notEqual(lane, "Dispatcher-2");
    const queue = await trace.locator("#queue").inputValue();
    // Rows come again, with another column each time.
    for (const [value, columns] of [
      ["-1", 0],
      [queue, 1],
    ]) {
      await trace.locator("#queue").selectOption(value);
      await until("the column", async () => (await trace.locator("#columns .queueing").count()) === columns);
      await until("rows", async () => (await trace.locator("#events .row.pending").count()) === 0);
    }
    await trace.locator("#drawing").focus();
    await page.keyboard.press("Enter");
    assert.equal((await active())?.name, lane);
    const split = trace.locator("#split");
    const [least, now, most] = await Promise.all(
      ["aria-valuemin", "aria-valuenow", "aria-valuemax"].map(async (name) => Number(await split.getAttribute(name))),
    );
    assert.ok(60 <= least && least <= now && now <= most, `${least} ${now} ${most}`);
  });

  await test(
    "from a thread: bottleneck search on its calls, and a filter for what matters",
    "trace-bottlenecks",
    async () => {
      await go(/^Dispatcher-1$/);
      await page.keyboard.press("b");
      const nav = await navigatorPage(page);
      await until("the thread's calls in the Navigator", async () =>
        /, Dispatcher-1/.test(plain(await nav.frame.locator(".title").textContent())),
      );
      await until("paths", async () => (await nav.rows()).some((row) => /dispatcher\./.test(row.name)));
      await shot("trace-navigator");
      await vscode.command("View: Close Primary Side Bar");
      await focus();
      await page.keyboard.press("f");
      await page.locator(".statusbar-item", { hasText: "Fulcrum Filter" }).waitFor();
      const text = await until("the filter", async () => {
        const shown = await page.locator(".editor-instance .view-lines").last().textContent();
        return /observe_method_invocations/.test(shown ?? "") && plain(shown);
      });
      assert.match(text, /includemethod dispatcher\.Servant pingWithWait/);
      await vscode.command("View: Revert and Close Editor");
    },
  );

  await test("one click refines the trace; the table grows by an iteration at a time", "refine", async () => {
    configure({
      "fulcrum.refine.iterations": 2,
      // Enough of them that the loop still goes on when a busy editor at last shows its page.
      "fulcrum.refine.runs": 5,
      // Serving a request takes 11 ms, everything else a few microseconds, also where the machine has much else to do.
      "fulcrum.refine.rule": "inherent wall >= 2ms after 20",
    });
    await page.locator(".tab", { hasText: "-dispatcher.Main" }).first().click();
    trace = await frameWith(page, "#trace:not([hidden]) #events");
    await trace.locator("#refine").click();
    await page.locator(".tab.active", { hasText: "Refine" }).waitFor();
    const refine = await frameWith(page, "[aria-label='Refine loop']");
    // While it tells something new twice a second, the button is the same and keeps the focus. Watched before anything else:
    // the loop goes on meanwhile, and pictures take long on a busy machine.
    await refine.locator("#cancel").evaluate((button) => {
      button.focus();
      const seen = { said: [], same: true, focused: true, done: [] };
      window.seen = seen;
      const look = () => {
        if (document.querySelector("#again") === null) {
          seen.same &&= document.querySelector("#cancel") === button;
          seen.focused &&= document.activeElement === button;
          seen.said.push(document.querySelector("#says").textContent);
          seen.done.push(Number(document.querySelector("[role=progressbar]")?.getAttribute("aria-valuenow")));
        }
      };
      new MutationObserver(look).observe(document.querySelector("#page"), {
        ...{ attributes: true, characterData: true, childList: true, subtree: true },
      });
    });
    await until("a row", async () => (await refine.locator("tbody tr").count()) > 0);
    await shot("refine-going");
    await refine.locator("#again").waitFor();
    const { said, same, focused, done } = await refine.evaluate(() => window.seen);
    assert.ok(new Set(said).size > 1, `news: ${said}`);
    assert.ok(same && focused, "the button stays");
    assert.ok(
      done.every((percent) => percent >= 0 && percent <= 100),
      `percent: ${done}`,
    );
    assert.match(plain(await refine.locator("#says").textContent()), /hotspots?/);
    const cells = (await refine.locator("tbody tr").last().locator("td").allTextContents()).map(plain);
    assert.match(cells[1], /^\d+$/, `methods in ${cells}`);
    assert.match((await refine.locator(".hotspots").textContent()) ?? "", /pingWithWait/);
  });

  await test("and once more", "refine-again", async () => {
    const before = runs().length;
    const refine = await frameWith(page, "[aria-label='Refine loop'] #again");
    await refine.locator("#again").click();
    await until("other runs", () => runs().length > before);
    const second = await until("the second loop's end", async () => {
      for (const frame of page.frames()) {
        const ends = await frame
          .locator("[aria-label='Refine loop'] #again")
          .isVisible()
          .catch(() => false);
        if (ends && frame !== refine) {
          return frame;
        }
      }
      return undefined;
    });
    assert.ok((await second.locator("tbody tr").count()) >= 1);
  });

  await test("two traces are compared from the explorer", "trace-compare", async () => {
    const [first, ...others] = runs();
    const last = others.at(-1);
    assert.ok(first !== undefined && last !== undefined, `runs: ${runs()}`);
    await vscode.command("File: Focus on Files Explorer");
    await vscode.reveal(".fulcrum", "runs", first);
    await vscode.contextMenu(vscode.explorerRow(first), "Select Run for Compare");
    await vscode.contextMenu(vscode.explorerRow(last), "Compare with Selected");
    const compared = await frameWith(page, "[aria-label='Two traces compared'] tbody tr");
    // The refined filter leaves out what is no hotspot: that is said, and no change of the program.
    assert.match(
      plain(await compared.locator(".notes").textContent()),
      /different filters.*Left out: \d+ methods? of B/,
    );
    const calls = (await compared.locator("tbody tr").allTextContents()).map(plain);
    assert.ok(
      calls.some((row) => /pingWithWait/.test(row) && row.includes(`${requests} / ${requests}`)),
      String(calls),
    );
    assert.match(plain(await compared.locator("#summary").textContent()), /^\d+ paths?/);
    await vscode.command("View: Close Primary Side Bar");
    await page.waitForTimeout(300);
  });

  await page
    .locator(".tab", { hasText: /^\d{8}T.*-dispatcher\.Main/ })
    .first()
    .click();
  trace = await frameWith(page, "#trace:not([hidden]) #events");
  for (const [theme, picture] of [
    ["Default Light Modern", "trace-light"],
    ["Default High Contrast", "trace-high-contrast"],
    ["Default Dark Modern", "trace-dark"],
  ]) {
    await test(`the trace takes the theme's colours: ${theme}`, picture, async () => {
      const colour = () => trace.locator("body").evaluate((node) => getComputedStyle(node).color);
      const before = await colour();
      configure({ "workbench.colorTheme": theme });
      await until("other colours", async () => (await colour()) !== before);
      await page.waitForTimeout(500);
    });
  }

  await test("a loop that is told to stop says so until it has stopped", "refine-stopped", async () => {
    await trace.locator("#refine").click();
    await page.locator(".tab.active", { hasText: "Refine" }).waitFor();
    const refine = await frameWith(page, "[aria-label='Refine loop'] #cancel");
    await until("a row", async () => (await refine.locator("tbody tr").count()) > 0);
    const told = [];
    await refine.locator("#cancel").click();
    await until("the loop's end", async () => {
      told.push(plain(await refine.locator("#says").textContent()));
      return (await refine.locator("#again").count()) > 0;
    });
    const since = told.slice(told.indexOf("stopping…"), -1);
    assert.deepEqual([...new Set(since)], ["stopping…"], String(told));
  });

  await test(
    "a trace, a comparison and a refine loop are there again after Reload Window",
    "trace-reloaded",
    async () => {
      await vscode.command("Notifications: Clear All Notifications");
      const tabs = async () => (await page.locator(".tab .label-name").allTextContents()).map(plain);
      const before = await tabs();
      await vscode.reload();
      await until("the tabs", async () => (await tabs()).length === before.length);
      await page
        .locator(".tab", { hasText: /^\d{8}T.*-dispatcher\.Main$/ })
        .first()
        .click();
      trace = await frameWith(page, "#trace:not([hidden]) #events");
      await until("its threads", async () => (await rows()).some((row) => row.name === "Receiver-1"));
      await page.locator(".tab", { hasText: "−" }).first().click();
      const compared = await frameWith(page, "[aria-label='Two traces compared'] tbody tr");
      assert.match(plain(await compared.locator("#summary").textContent()), /^\d+ paths?/);
      await page.locator(".tab", { hasText: "Refine" }).first().click();
      const refine = await frameWith(page, "[aria-label='Refine loop'] tbody tr");
      assert.match((await refine.locator(".hotspots").textContent()) ?? "", /pingWithWait/);
    },
  );
  await vscode.command("View: Close All Editors");
}
