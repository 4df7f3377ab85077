/** A trace of samples/dispatcher: recorded, browsed, refined and compared, as a person would. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { Script } from "../support/play.mjs";
import { root } from "../support/root.mjs";
import { iterationsOf, recorderOf, writeTable } from "../support/runs.mjs";
import { navigatorPage } from "./navigator.mjs";
import { appears, frameWith, patience, settled, until, walk } from "./workbench.mjs";

const plain = (text) => (text ?? "").replaceAll("\u00a0", " ").trim();
const requests = 60;
export const dispatcherCommand = `java -cp dispatcher/build dispatcher.Main --requests ${requests} --scale 0.02 --seed 3`;

/** Copies the sample into the workspace and compiles it there. */
export function buildDispatcher(folder) {
  const sample = path.join(folder, "dispatcher");
  cpSync(path.join(root, "samples/dispatcher"), sample, {
    recursive: true,
    filter: (file) => path.basename(file) !== "build",
  });
  // For a test that types nonsense, which the editor may save at once.
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

export async function traceTests({ test, vscode, page, workspace }) {
  let trace;

  const runs = () =>
    readdirSync(path.join(workspace.folder, ".fulcrum/runs"))
      .filter((name) => /-dispatcher\.Main(-refine)?(-\d+)*$/.test(name))
      .sort();
  const store = (name) => path.join(workspace.folder, ".fulcrum/runs", name);
  /** Rows on screen: `name | cells`, the selected one marked. */
  const rows = async () =>
    (
      await trace.locator("#events").evaluateAll(([list]) =>
        [...list.querySelectorAll(".row:not(.pending)")].map((row) => ({
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

  /** Moves down by keys to the first row with this name, below another one if given. */
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
    return until(page, `the row ${name}`, active);
  }

  /** Unfolds the active row. */
  async function unfold(what, shown) {
    await page.keyboard.press("ArrowRight");
    return until(page, what, shown);
  }

  async function openTrace() {
    await page.locator(".tab.active", { hasText: "-dispatcher.Main" }).waitFor();
    trace = await frameWith(page, "#trace:not([hidden]) #events");
    await until(page, "rows", async () => (await rows()).length > 3);
    await page.mouse.move(5, 5);
  }

  await test("a filter shows its errors, and completes directives", async () => {
    await vscode.command("View: Close All Editors");
    await vscode.openFile("scratch.fulcrum-filter");
    await page.locator(".statusbar-item", { hasText: "Fulcrum Filter" }).waitFor();
    await vscode.goToLine(22, 1);
    await page.keyboard.press("Control+End");
    await page.keyboard.type("\nincludemethod dispatcher.Main main\nexc");
    const widget = page.locator(".suggest-widget .monaco-list-row", { hasText: "excludemethod" }).first();
    await until(page, "completions", async () => {
      if (await appears(widget, patience)) {
        return true;
      }
      await page.keyboard.press("Control+Space");
      return false;
    });
    await until(
      page,
      "the shadowed rule",
      async () => (await page.locator(".squiggly-unnecessary, .squiggly-warning").count()) > 0,
    );
    await page.keyboard.press("Escape");
    await vscode.command("View: Revert and Close Editor");
  });

  await test("a trace of the sample is recorded from the palette and opens", async () => {
    await vscode.command("Notifications: Clear All Notifications");
    await vscode.command("View: Close Primary Side Bar");
    await vscode.command("Fulcrum: Record a Trace");
    await vscode.answer("(1/2)", dispatcherCommand);
    await vscode.asked("(2/2)");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "dispatcher.fulcrum-filter" }).click();
    await openTrace();
    await until(page, "the program's threads", async () => {
      const names = (await rows()).map((row) => row.name);
      return ["main", "Receiver-1", "Dispatcher-1", "Dispatcher-2", "Dispatcher-3"].every((it) => names.includes(it));
    });
    await until(page, "threads over time", async () => (await drawn()) > 20);
  });

  await test("threads unfold to events, with the queueing columns of JPMT's Figures 10 and 11", async () => {
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
    // The receiver's side of the queue.
    await go(/^Receiver-1$/);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("/");
    await page.keyboard.type("ThreadPool.add");
    await until(page, "what was found", async () =>
      /^1 of \d+\+?$/.test(plain(await trace.locator("#found").textContent())),
    );
    const put = await until(page, "the put", async () => {
      const row = await active();
      return row !== undefined && /ThreadPool\.add/.test(row.name) && row;
    });
    assert.match(put.queue, /^no\. \d+ · #\d+$/);
    await page.keyboard.press("Enter");
    await page.keyboard.press("n");
    await until(page, "the next result", async () => /^2 of/.test(plain(await trace.locator("#found").textContent())));
  });

  await test("the timeline zooms in on an event, and calls in it lead back to the tree", async () => {
    await focus();
    await page.keyboard.press("z");
    await settled(trace);
    await trace.locator("#drawing").focus();
    for (const key of ["-", "-", "-", "-", "-", "-"]) {
      await page.keyboard.press(key);
    }
    await page.keyboard.press("ArrowDown");
    const box = await trace.locator("#drawing").boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60);
    await until(page, "what is in that second", async () => (await drawn()) > 5);
    await page.keyboard.press("Escape");
    await page.mouse.move(5, 5);
    await settled(trace);
  });

  await test("O opens the method's source", async () => {
    await focus();
    await page.keyboard.press("o");
    await page.locator(".tab.active", { hasText: "ThreadPool.java" }).waitFor();
    await page.locator(".statusbar-item", { hasText: /Ln (1[5-9]|2\d)/ }).waitFor();
    await page.locator(".tab", { hasText: "-dispatcher.Main" }).first().click();
  });

  await test("answers to earlier searches are ignored", async () => {
    const found = async () => /^1 of (\d+)\+?$/.exec(plain(await trace.locator("#found").textContent()))?.[1];
    const search = trace.locator("#text");
    await search.fill("ThreadPool.add");
    const hits = await until(page, "what was found", found);
    const engine = recorderOf(store(runs()[0]));
    const asked = async () => Number(await trace.locator("body").getAttribute("data-asked"));
    process.kill(engine, "SIGSTOP");
    try {
      for (const text of ["ThreadPool.ad", "ThreadPool.add", "ThreadPool.ad", "ThreadPool.add"]) {
        const before = await asked();
        await search.fill(text);
        await until(page, "the page to ask", async () => (await asked()) > before);
      }
    } finally {
      process.kill(engine, "SIGCONT");
    }
    await until(page, "what was found", found);
    // Two of the four answers are for this text.
    await settled(trace);
    assert.equal(await found(), hits);
    await search.fill("");
    await focus();
  });

  await test("the selected lane stays selected when rows load", async () => {
    await go(/Dispatcher\.run/, /^Dispatcher-2$/);
    await trace.locator("#drawing").focus();
    await page.keyboard.press("ArrowDown");
    const lane = plain(await trace.locator("#spoken").textContent());
    assert.notEqual(lane, "Dispatcher-2");
    const queue = await trace.locator("#queue").inputValue();
    // Rows load again, with another column each time.
    for (const [value, columns] of [
      ["-1", 0],
      [queue, 1],
    ]) {
      await trace.locator("#queue").selectOption(value);
      await until(page, "the column", async () => (await trace.locator("#columns .queueing").count()) === columns);
      await until(page, "rows", async () => (await trace.locator("#events .row.pending").count()) === 0);
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

  await test("a thread leads to a bottleneck search on its calls, and to a filter", async () => {
    await go(/^Dispatcher-1$/);
    await page.keyboard.press("b");
    const nav = await navigatorPage(page);
    await until(page, "the thread's calls in the Navigator", async () =>
      /, Dispatcher-1/.test(plain(await nav.frame.locator(".title").textContent())),
    );
    await until(page, "paths", async () => (await nav.rows()).some((row) => /dispatcher\./.test(row.name)));
    await vscode.command("View: Close Primary Side Bar");
    await focus();
    await page.keyboard.press("f");
    await page.locator(".statusbar-item", { hasText: "Fulcrum Filter" }).waitFor();
    const text = await until(page, "the filter", async () => {
      const shown = await page.locator(".editor-instance .view-lines").last().textContent();
      return /observe_method_invocations/.test(shown ?? "") && plain(shown);
    });
    assert.match(text, /includemethod dispatcher\.Servant pingWithWait/);
    await vscode.command("View: Revert and Close Editor");
  });

  /** The next refine loop of the trace, played from a script. Its two iterations are copies of the trace. */
  function playLoop(first) {
    const [real] = runs();
    const names = [first, first + 1].map((n) => `${real}-refine-${n}`);
    const iterations = iterationsOf(names.map(store));
    const script = new Script(path.join(workspace.folder, "java"));
    return {
      says: (message) => script.add({ do: "report", message, fraction: 0.1 }),
      iteration: (number) => {
        const upTo = iterations.slice(0, number);
        const stable = number === names.length;
        const hotspots = ["dispatcher.Servant.pingWithWait(I)V"];
        const change = (run) => writeTable(run, { stable, hotspots, iterations: upTo });
        script.run(workspace.folder, store(real), names[number - 1], change);
        script.add({ do: "report", message: `iteration ${number}`, fraction: number / 2, iterations: upTo });
      },
      deaf: () => script.add({ do: "deaf" }),
      end: () => script.end(),
    };
  }

  await test("one click refines the trace; the table grows by one iteration at a time", async () => {
    const loop = playLoop(1);
    await page.locator(".tab", { hasText: "-dispatcher.Main" }).first().click();
    trace = await frameWith(page, "#trace:not([hidden]) #events");
    await trace.locator("#refine").click();
    await page.locator(".tab.active", { hasText: "Refine" }).waitFor();
    const refine = await frameWith(page, "[aria-label='Refine loop']");
    // Whatever the page says, the button stays the same element and keeps the focus.
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
    const rowsAre = (count) =>
      until(page, `${count} rows`, async () => (await refine.locator("tbody tr").count()) === count);
    loop.says("run 1 of 4");
    await refine.locator("#says", { hasText: "run 1 of 4" }).waitFor();
    await rowsAre(0);
    loop.iteration(1);
    await rowsAre(1);
    loop.iteration(2);
    await rowsAre(2);
    loop.end();
    await refine.locator("#again").waitFor();
    const { said, same, focused, done } = await refine.evaluate(() => window.seen);
    for (const message of ["run 1 of 4", "iteration 1", "iteration 2"]) {
      assert.ok(
        said.some((it) => it.includes(message)),
        `${message} in ${said}`,
      );
    }
    assert.ok(same && focused, "the button stays");
    assert.ok(
      done.every((percent) => percent >= 0 && percent <= 100),
      `percent: ${done}`,
    );
    assert.match(plain(await refine.locator("#says").textContent()), /hotspots?/);
    const cells = (await refine.locator("tbody tr").last().locator("td").allTextContents()).map(plain);
    assert.equal(cells[1], "66", `methods in ${cells}`);
    assert.match((await refine.locator(".hotspots").textContent()) ?? "", /pingWithWait/);
  });

  await test("a hotspot leads to its source", async () => {
    const refine = await frameWith(page, "[aria-label='Refine loop'] .hotspots");
    await refine.locator(".hotspots button", { hasText: "pingWithWait" }).click();
    await page.locator(".tab.active", { hasText: "Servant.java" }).waitFor();
    await page.locator(".tab", { hasText: "Refine" }).first().click();
  });

  await test("a second loop runs after the first", async () => {
    const refine = await frameWith(page, "[aria-label='Refine loop'] #again");
    const loop = playLoop(3);
    loop.iteration(1);
    loop.end();
    await refine.locator("#again").click();
    const second = await until(page, "the second loop's end", async () => {
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
    assert.equal(await second.locator("tbody tr").count(), 1);
  });

  await test("two traces are compared from the explorer", async () => {
    const [first, ...others] = runs();
    const last = others.at(-1);
    assert.ok(first !== undefined && last !== undefined, `runs: ${runs()}`);
    await vscode.command("File: Focus on Files Explorer");
    await vscode.reveal(".fulcrum", "runs", first);
    await vscode.contextMenu(vscode.explorerRow(first), "Select Run for Compare");
    await vscode.contextMenu(vscode.explorerRow(last), "Compare with Selected");
    const compared = await frameWith(page, "[aria-label='Two traces compared'] tbody tr");
    const calls = (await compared.locator("tbody tr").allTextContents()).map(plain);
    assert.ok(
      calls.some((row) => /pingWithWait/.test(row) && row.includes(`${requests} / ${requests}`)),
      String(calls),
    );
    assert.match(plain(await compared.locator("#summary").textContent()), /^\d+ paths?/);
    await vscode.command("View: Close Primary Side Bar");
  });

  await page
    .locator(".tab", { hasText: /^\d{8}T.*-dispatcher\.Main/ })
    .first()
    .click();
  trace = await frameWith(page, "#trace:not([hidden]) #events");

  await test("a loop that is stopping says so until it has stopped", async () => {
    const loop = playLoop(5);
    loop.iteration(1);
    loop.deaf();
    await trace.locator("#refine").click();
    await page.locator(".tab.active", { hasText: "Refine" }).waitFor();
    const refine = await frameWith(page, "[aria-label='Refine loop'] #cancel");
    await until(page, "a row", async () => (await refine.locator("tbody tr").count()) === 1);
    await refine.locator("#cancel").click();
    await refine.locator("#says", { hasText: "stopping…" }).waitFor();
    loop.iteration(2);
    await until(page, "another row", async () => (await refine.locator("tbody tr").count()) === 2);
    assert.equal(plain(await refine.locator("#says").textContent()), "stopping…");
    loop.end();
    await refine.locator("#again").waitFor();
  });

  await test("a trace, a comparison and a refine loop are restored after Reload Window", async () => {
    await vscode.command("Notifications: Clear All Notifications");
    const tabs = async () => (await page.locator(".tab .label-name").allTextContents()).map(plain);
    const before = await tabs();
    await vscode.reload();
    await until(page, "the tabs", async () => (await tabs()).length === before.length);
    await page
      .locator(".tab", { hasText: /^\d{8}T.*-dispatcher\.Main$/ })
      .first()
      .click();
    trace = await frameWith(page, "#trace:not([hidden]) #events");
    await until(page, "its threads", async () => (await rows()).some((row) => row.name === "Receiver-1"));
    await page.locator(".tab", { hasText: "−" }).first().click();
    const compared = await frameWith(page, "[aria-label='Two traces compared'] tbody tr");
    assert.match(plain(await compared.locator("#summary").textContent()), /^\d+ paths?/);
    await page.locator(".tab", { hasText: "Refine" }).first().click();
    const refine = await frameWith(page, "[aria-label='Refine loop'] tbody tr");
    assert.match((await refine.locator(".hotspots").textContent()) ?? "", /pingWithWait/);
  });
  await vscode.command("View: Close All Editors");
}
