/**
 * The UI floor: a real workbench in a real browser, used as a person uses it, and photographed.
 *
 * `node test/ui/run.mjs [GROUP…]`; pictures go to `test/ui/screenshots/`. Groups: first, live, themes, compare,
 * navigator, trace, runs.
 */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { startEditor } from "../../scripts/editor.mjs";
import { launchBrowser, quietSettings } from "../support/browser.mjs";
import { writeResults } from "../support/results.mjs";
import { root } from "../support/root.mjs";
import { sampleLines } from "../support/sample.mjs";
import { buildSample, engineBinary, makeWorkspace, stageExtension } from "../support/stage.mjs";
import { compareTests } from "./compare.mjs";
import { flameTests } from "./flame.mjs";
import { liveTests } from "./live.mjs";
import { navigatorTests } from "./navigator.mjs";
import { runsTests } from "./runs.mjs";
import { buildDispatcher, traceTests } from "./trace.mjs";
import { appears, limit, patience, until, workbench } from "./workbench.mjs";

const screenshots = path.join(root, "test/ui/screenshots");
rmSync(screenshots, { recursive: true, force: true });
mkdirSync(screenshots, { recursive: true });

const { longer, shorter } = sampleLines;
const scratch = `#include <cstdio>

int main() {
  for (int i = 0; i < 10; i++) {
    std::printf("%d\\n", i);
  }
}
`;

const workspace = makeWorkspace();
buildSample(workspace.folder);
writeFileSync(path.join(workspace.folder, "scratch.cpp"), scratch);
const editor = await startEditor({
  extensions: [await stageExtension()],
  // One row a folder in the explorer, for who clicks by name; one serial.cpp, for who opens it by name.
  settings: { ...quietSettings, "explorer.compactFolders": false, "search.exclude": { fixed: true } },
  env: { FULCRUM_ENGINE: engineBinary() },
});
const browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2 });
page.setDefaultTimeout(limit);
page.setDefaultNavigationTimeout(limit);
const vscode = workbench(page);

const failures = [];
let passed = 0;
let number = 0;

/** Runs one test and takes its picture, also when it fails. */
async function test(name, image, body) {
  number += 1;
  const file = path.join(screenshots, `${String(number).padStart(2, "0")}-${image}.png`);
  try {
    await body();
    passed += 1;
    await photograph(file);
  } catch (error) {
    await photograph(file.replace(".png", "-FAILED.png")).catch(() => undefined);
    failures.push({ name, message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    await leave();
  }
}

/** What a test left open when it failed would take the keys of the next ones: a question may come back to an earlier step. */
async function leave() {
  const open = page.locator(".quick-input-widget:visible, .monaco-menu:visible, .monaco-dialog-box:visible");
  for (let tries = 0; tries < 10; tries += 1) {
    await page.keyboard.press("Escape").catch(() => undefined);
    await page.waitForTimeout(300).catch(() => undefined);
    if (!(await appears(open.first(), 100))) {
      return;
    }
  }
}

/** A picture in the middle of a test. */
function shot(name) {
  return photograph(path.join(screenshots, `${String(number).padStart(2, "0")}-${name}.png`));
}

/** What fades in or moves is shown as it will be. */
function photograph(file) {
  return page.screenshot({ path: file, animations: "disabled" });
}

/** A part of the floor; all of them without arguments. */
async function group(name, body) {
  const wanted = process.argv.slice(2);
  if (wanted.length === 0 || wanted.includes(name)) {
    await body();
  }
}

/** Engines of this editor: their parent is its extension host, whose ancestors include the editor. */
function enginePid() {
  const parentOf = (pid) => Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);
  const ours = (pid) => pid === editor.pid || (pid > 1 && ours(parentOf(pid)));
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[1] === "lsp" && ours(pid);
      } catch {
        return false;
      }
    });
}

/** Writes the workspace's settings; the editor notices. */
function configure(settings) {
  mkdirSync(path.join(workspace.folder, ".vscode"), { recursive: true });
  writeFileSync(path.join(workspace.folder, ".vscode", "settings.json"), JSON.stringify(settings));
}

/** Way of the sparkline over the cell: up is positive. */
function rise(cell) {
  const line = /<path d="M[\d.]+ ([\d.-]+) L[\d.]+ ([\d.-]+)" fill="none"/.exec(cell?.svg ?? "");
  return line === null ? Number.NaN : Number(line[1]) - Number(line[2]);
}

async function shapesOnBothLoops() {
  const cells = await vscode.gutterCells();
  return cells[longer] !== undefined && cells[shorter] !== undefined && cells;
}

try {
  await page.goto(editor.url(workspace.folder));
  await vscode.ready();

  await group("first", async () => {
    await test("the recorded run opens by itself and marks both loops in the gutter", "gutter", async () => {
      await vscode.openFile("two-threads.cpp");
      const cells = await until("shapes on both loops", shapesOnBothLoops);
      assert.deepEqual(Object.keys(cells).map(Number), [longer, shorter]);
      assert.ok(rise(cells[longer]) > 0, "the longer loop rises");
      assert.equal(rise(cells[shorter]), 0, "the shorter loop is flat");
      assert.ok(cells[longer].width >= 15 && cells[longer].height >= 15);
    });

    await test("the payoff stands in words at the end of both lines", "inline", async () => {
      assert.match(await vscode.lineText(longer), /\+ 1;\s*\+\d(\.\d)? % if 2× faster$/);
      assert.match(await vscode.lineText(shorter), /\+ 1;\s*(no effect|[+−]\d(\.\d)? % if 2× faster)$/);
    });

    await test("the ranking lists both lines, the longer loop first, with intervals", "ranking", async () => {
      await vscode.showRanking();
      const rows = await until("two rows", async () => {
        const shown = (await vscode.rankingRows()).filter((row) => row.includes("two-threads.cpp"));
        return shown.length >= 2 && shown;
      });
      assert.match(rows[0], new RegExp(`^two-threads\\.cpp:${longer}\\+[\\d.]+ % \\[.+, .+\\]`));
      assert.match(rows[1], new RegExp(`^two-threads\\.cpp:${shorter}[+−]?[\\d.]+ % \\[.+, .+\\]`));
      assert.match((await vscode.statusText()) ?? "", new RegExp(`two-threads\\.cpp:${longer} \\+`));
    });

    await test("a click in the ranking goes to the line", "click", async () => {
      await vscode.openFile("scratch.cpp");
      await page.locator(".sidebar .monaco-list-row", { hasText: `two-threads.cpp:${shorter}` }).click();
      await page.locator(".tab.active", { hasText: "two-threads.cpp" }).waitFor();
      await page.locator(".statusbar-item", { hasText: `Ln ${shorter},` }).waitFor();
    });

    await test("the hover shows the plot as a picture, and the numbers", "hover", async () => {
      const image = page.locator(".monaco-hover img").first();
      await vscode.hover("10500000", image);
      const size = await image.evaluate((node) => ({ width: node.naturalWidth, height: node.naturalHeight }));
      assert.ok(size.width >= 100 && size.height >= 50, JSON.stringify(size));
      const text = (await page.locator(".monaco-hover:visible").allTextContents()).join("\n");
      assert.match(text, /if 2× faster/);
      await page.waitForTimeout(500);
    });

    await test("the quick fix menu inserts a progress point into the loop", "code-action", async () => {
      await page.mouse.move(700, 700);
      await vscode.openFile("scratch.cpp");
      await vscode.goToLine(5, 6);
      const action = page.locator(".action-widget .monaco-list-row", { hasText: /insert.*progress point/i }).first();
      await vscode.again(
        "the quick fix",
        () => page.keyboard.press("Control+."),
        () => appears(action, patience),
      );
      await shot("code-action-menu");
      await action.click();
      const text = await until("the macro", async () => {
        const shown = await vscode.documentText();
        return /printf.*\n {4}FULCRUM_PROGRESS.*\n {2}\}/.test(shown) && shown;
      });
      assert.match(text, /#include "fulcrum\.h"/);
      await page.keyboard.press("Control+S");
    });

    await test("the line number's menu offers progress points", "line-number-menu", async () => {
      const number = page.locator(".margin-view-overlays .line-numbers", { hasText: /^6$/ }).first();
      const item = page.locator(".monaco-menu .action-item", { hasText: "Insert Progress Point" }).first();
      await vscode.again(
        "the line number's menu",
        () => number.click({ button: "right" }),
        () => appears(item, patience),
      );
    });
    await page.keyboard.press("Escape");

    await test("program and working folder can be chosen by browsing", "run-browsed", async () => {
      const input = page.locator(".quick-input-widget input:visible").first();
      const titled = (text) => page.locator(".quick-input-title", { hasText: text });
      const title = (text) => titled(text).waitFor();
      const choose = async (dialog, file) => {
        await title(dialog);
        const whole = path.join(workspace.folder, file);
        // Until it has listed the folder the button does nothing, and the dialog writes that folder over what is there.
        await until(`${dialog} to close`, async () => {
          const value = await input.inputValue({ timeout: patience }).catch(() => whole);
          if (!value.startsWith(whole)) {
            await input.fill(whole, { timeout: patience }).catch(() => undefined);
          }
          const button = page.locator(".quick-input-action .monaco-button", { hasText: "Choose" });
          await button.click({ timeout: patience }).catch(() => undefined);
          return !(await appears(titled(dialog), 1000));
        });
      };
      await vscode.command("Fulcrum: Run Causal Profiler");
      await title("(1/4)");
      const row = (text) => page.locator(".quick-input-list .monaco-list-row", { hasText: text });
      // Programs that are found move it down.
      await row("build/serial").first().waitFor();
      const browse = row("Browse…");
      await browse.click();
      await title("Choose Program");
      // Who leaves the dialog is where he was.
      await page.keyboard.press("Escape");
      await title("(1/4)");
      await browse.click();
      await choose("Choose Program", "build/serial");
      await vscode.answer("(2/4)");
      await title("(3/4)");
      await page.locator(".quick-input-titlebar .action-label[aria-label^='Browse']").click();
      await choose("Choose Working Folder", "build");
      await title("(3/4)");
      await until("the folder in the box", async () => /build\/?$/.test(await input.inputValue()));
      await page.keyboard.press("Escape");
    });

    await test("the profiler runs from the palette and its results appear", "run", async () => {
      await vscode.openFile("serial.cpp");
      await vscode.command("Fulcrum: Clear Results");
      await until("an empty gutter", async () => Object.keys(await vscode.gutterCells()).length === 0);
      await vscode.command("Fulcrum: Run Causal Profiler");
      await page.locator(".quick-input-title", { hasText: "(1/4)" }).waitFor();
      await page.locator(".quick-input-list .monaco-list-row", { hasText: "build/serial" }).first().waitFor();
      await shot("run-choose");
      await vscode.answer("(1/4)", "build/serial");
      await vscode.answer("(2/4)");
      await vscode.answer("(3/4)");
      await vscode.answer("(4/4)", "20");
      await until("experiments in the status bar", async () =>
        /[1-9]\d*\sexperiment/.test((await vscode.statusText()) ?? ""),
      );
      await shot("run-progress");
      await until("the run to end", async () => {
        const text = await vscode.statusText();
        return text !== null && !/experiment/.test(text);
      });
      await vscode.command("Notifications: Show Notifications");
      await page.locator(".notifications-center .notification-list-item-message", { hasText: /^serial/ }).waitFor();
      // What it found depends on what else the machine was doing; bench accuracy judges that. Here it is shown.
      await until("the longer loop in the ranking", async () =>
        (await vscode.rankingRows()).some((row) => /^serial\.cpp:8\D/.test(row)),
      );
      await until("a shape in the gutter", async () => Object.keys(await vscode.gutterCells()).length > 0);
    });

    await test("a killed engine comes back, and the gutter follows edits again", "engine-back", async () => {
      await vscode.command("Notifications: Clear All Notifications");
      await vscode.command("Fulcrum: Open Last Run");
      await vscode.openFile("serial.cpp");
      const before = await until("shapes", async () => {
        const cells = await vscode.gutterCells();
        return Object.keys(cells).length >= 1 && cells;
      });
      const lines = Object.keys(before).map(Number);
      const pid = enginePid();
      assert.ok(pid !== undefined, "the engine runs");
      process.kill(pid, "SIGKILL");
      await until("another engine", () => {
        const other = enginePid();
        return other !== undefined && other !== pid;
      });
      await vscode.goToLine(1);
      await page.keyboard.type("//\n");
      await until("the shapes one line further down", async () => {
        const cells = await vscode.gutterCells();
        return lines.every((line) => cells[line + 1] !== undefined);
      });
      await page.keyboard.press("Control+Z");
      await page.keyboard.press("Control+Z");
    });
  });

  await group("live", () => liveTests({ test, vscode, page, workspace, shot }));

  await group("themes", async () => {
    for (const [theme, picture] of [
      ["Default Light Modern", "light"],
      ["Default High Contrast", "high-contrast"],
      ["Default High Contrast Light", "high-contrast-light"],
    ]) {
      await test(`the shapes change with the theme: ${theme}`, picture, async () => {
        const before = Object.values(await vscode.gutterCells())[0]?.svg;
        configure({ "workbench.colorTheme": theme });
        await until("other colours", async () => {
          const svg = Object.values(await vscode.gutterCells())[0]?.svg;
          return svg !== undefined && svg !== before;
        });
      });
    }

    await test("the shapes move to the end of the line when the gutter must stay free", "end-of-line", async () => {
      configure({ "workbench.colorTheme": "Default Dark Modern", "fulcrum.gutter": "inline" });
      await until("an empty gutter", async () => Object.keys(await vscode.gutterCells()).length === 0);
      await page.waitForTimeout(500);
    });
  });

  await group("compare", () => compareTests({ test, vscode, page, shot, configure }));

  await group("navigator", async () => {
    await navigatorTests({ test, vscode, page, shot, configure, workspace });
    await flameTests({ test, vscode, page, shot, configure, workspace });
  });

  await group("trace", async () => {
    buildDispatcher(workspace.folder);
    await traceTests({ test, vscode, page, shot, configure, workspace, enginePid });
  });

  // The last: it leaves no runs behind.
  await group("runs", () => runsTests({ test, vscode, page, shot, configure, workspace }));
} catch (error) {
  failures.push({ name: "opening the workbench", message: String(error) });
  await photograph(path.join(screenshots, "00-FAILED.png")).catch(() => undefined);
} finally {
  await browser.close();
  await editor.stop();
  workspace.remove();
}
writeResults("ui", passed, failures);
