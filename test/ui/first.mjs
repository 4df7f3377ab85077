/** The basics: gutter, ranking, hover, progress points, the questions before a run, and one real run. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { recorderOf } from "../support/runs.mjs";
import { sampleLines } from "../support/sample.mjs";
import { themes } from "./themes.mjs";
import { appears, goes, patience, soon, until } from "./workbench.mjs";

const { longer, shorter } = sampleLines;
export const scratch = `#include <cstdio>

int main() {
  for (int i = 0; i < 10; i++) {
    std::printf("%d\\n", i);
  }
}
`;

/** A program without a progress point, and a makefile without debug information. */
export function writeMade(folder) {
  const made = path.join(folder, "made");
  mkdirSync(made);
  writeFileSync(path.join(made, "spin.c"), "int main(void) {\n  for (volatile long i = 0;; i++) {\n  }\n}\n");
  writeFileSync(path.join(made, "Makefile"), "CFLAGS = -O1\nspin: spin.c\n\t$(CC) $(CFLAGS) -o $@ $<\n");
}

/** The sparkline's vertical distance across the cell; up is positive. */
function rise(cell) {
  const line = /<path d="M[\d.]+ ([\d.-]+) L[\d.]+ ([\d.-]+)" fill="none"/.exec(cell?.svg ?? "");
  return line === null ? Number.NaN : Number(line[1]) - Number(line[2]);
}

export async function firstTests({ test, vscode, page, workspace, configure }) {
  let engine;
  const lastRun = () => {
    const runs = path.join(workspace.folder, ".fulcrum/runs");
    return path.join(runs, readdirSync(runs).sort().at(-1));
  };

  async function shapesOnBothLoops() {
    const cells = await vscode.gutterCells();
    return cells[longer] !== undefined && cells[shorter] !== undefined && cells;
  }

  await test("the recorded run opens automatically and marks both loops in the gutter", async () => {
    await vscode.openFile("two-threads.cpp");
    const cells = await until(page, "shapes on both loops", shapesOnBothLoops);
    assert.deepEqual(Object.keys(cells).map(Number), [longer, shorter]);
    assert.ok(rise(cells[longer]) > 0, "the longer loop rises");
    assert.equal(rise(cells[shorter]), 0, "the shorter loop is flat");
    assert.ok(cells[longer].width >= 15 && cells[longer].height >= 15);
  });

  await test("both lines have the payoff as text at their end", async () => {
    assert.match(await vscode.lineText(longer), /\+ 1;\s*\+\d(\.\d)? % if 2× faster$/);
    assert.match(await vscode.lineText(shorter), /\+ 1;\s*((no|hardly any) effect|[+−]\d(\.\d)? % if 2× faster)$/);
  });

  await test("the ranking lists both lines, the longer loop first, with the same numbers as beside the code", async () => {
    await vscode.showRanking();
    const rows = await until(page, "two rows", async () => {
      const shown = (await vscode.rankingRows()).filter((row) => row.includes("two-threads.cpp"));
      return shown.length >= 2 && shown;
    });
    assert.match(rows[0], new RegExp(`^two-threads\\.cpp:${longer}\\+[\\d.]+ % if 2× faster`));
    assert.match(
      rows[1],
      new RegExp(`^two-threads\\.cpp:${shorter}((no|hardly any) effect|[+−][\\d.]+ % if 2× faster)`),
    );
    assert.match((await vscode.statusText()) ?? "", new RegExp(`two-threads\\.cpp:${longer} \\+`));
  });

  await test("a click in the ranking goes to the line", async () => {
    await vscode.openFile("scratch.cpp");
    await page.locator(".sidebar .monaco-list-row", { hasText: `two-threads.cpp:${shorter}` }).click();
    await page.locator(".tab.active", { hasText: "two-threads.cpp" }).waitFor();
    await page.locator(".statusbar-item", { hasText: `Ln ${shorter},` }).waitFor();
  });

  await test("the hover shows the plot as a picture, and the numbers", async () => {
    const image = page.locator(".monaco-hover img").first();
    await vscode.hover("10500000", image);
    const size = await image.evaluate((node) => ({ width: node.naturalWidth, height: node.naturalHeight }));
    assert.ok(size.width >= 100 && size.height >= 50, JSON.stringify(size));
    const text = (await page.locator(".monaco-hover:visible").allTextContents()).join("\n");
    assert.match(text, /if 2× faster/);
  });

  await test("the hover's plot has the colours of each theme", async () => {
    const image = page.locator(".monaco-hover img[alt^='Plot of program speedup']").first();
    const pictureIn = async (theme, workbenchClass) => {
      configure({ "workbench.colorTheme": theme });
      await page.locator(`.monaco-workbench.${workbenchClass}`).waitFor();
      await vscode.hover("10500000", image);
      const [, data = ""] = ((await image.getAttribute("src")) ?? "").split("base64,");
      const svg = Buffer.from(data, "base64").toString("utf8");
      return [...new Set(svg.match(/#[0-9a-f]{6}/g))].sort().join(" ");
    };
    const seen = [];
    for (const [theme, , workbenchClass] of Object.values(themes)) {
      seen.push(await pictureIn(theme, workbenchClass));
    }
    assert.deepEqual(seen, ["#1f6fb2 #57606a", "#9bd0ff #ffffff", "#0b4477 #292929", "#6cb6f5 #a3abb4"]);
  });

  await test("the quick fix menu inserts a progress point into the loop", async () => {
    await page.mouse.move(700, 700);
    await vscode.openFile("scratch.cpp");
    await vscode.goToLine(5, 6);
    const action = page
      .locator(".action-widget .monaco-list-row.focused", { hasText: /insert.*progress point/i })
      .first();
    await vscode.again(
      "the quick fix",
      () => page.keyboard.press("Control+."),
      () => appears(action, patience),
    );
    // A list that is slow to close may register the click twice.
    await page.keyboard.press("Enter");
    const text = await until(page, "the macro", async () => {
      const shown = await vscode.documentText();
      return /printf.*\n {4}FULCRUM_PROGRESS.*\n {2}\}/.test(shown) && shown;
    });
    assert.match(text, /#include "fulcrum\.h"/);
    await page.keyboard.press("Control+S");
    const header = path.join(workspace.folder, "fulcrum.h");
    await until(page, "the header beside it", async () => existsSync(header));
  });

  await test("the line number's menu makes a line a progress point, and the line says so at its end", async () => {
    await vscode.openFile("serial.cpp");
    const number = page.locator(".margin-view-overlays .line-numbers", { hasText: /^6$/ }).first();
    const item = page.locator(".monaco-menu .action-item", { hasText: "Toggle Progress Point Here" }).first();
    const toggle = async (marked) => {
      await vscode.again(
        "the line number's menu",
        () => number.click({ button: "right" }),
        () => appears(item, patience),
      );
      // A menu ignores clicks at first.
      await until(page, "the menu to close", async () => {
        await item.click({ timeout: patience }).catch(() => undefined);
        return goes(item, soon);
      });
      await until(page, "the mark at the end of the line", async () => {
        return /counts as progress$/.test(await vscode.lineText(6)) === marked;
      });
    };
    await toggle(true);
    await page.locator(".codelens-decoration", { hasText: "Run Causal Profiler" }).first().waitFor();
    await toggle(false);
    await vscode.openFile("scratch.cpp");
  });

  await test("the line number's menu offers progress points", async () => {
    const number = page.locator(".margin-view-overlays .line-numbers", { hasText: /^6$/ }).first();
    const item = page.locator(".monaco-menu .action-item", { hasText: "Insert Progress Point" }).first();
    await vscode.again(
      "the line number's menu",
      () => number.click({ button: "right" }),
      () => appears(item, patience),
    );
  });
  await page.keyboard.press("Escape");

  await test("program and working folder can be chosen by browsing", async () => {
    const input = page.locator(".quick-input-widget input:visible").first();
    const titled = (text) => page.locator(".quick-input-title", { hasText: text });
    const title = (text) => vscode.asked(text);
    const row = (text) => page.locator(".quick-input-list .monaco-list-row", { hasText: text });
    const choose = async (dialog, file) => {
      await title(dialog);
      // Until it has listed the folder, the dialog overwrites what is typed with the folder.
      await page.locator(".quick-input-list .monaco-list-row:visible", { hasText: "profiles" }).first().waitFor();
      const whole = path.join(workspace.folder, file);
      await until(page, `${dialog} to close`, async () => {
        if (!(await input.inputValue({ timeout: patience })).startsWith(whole)) {
          await input.fill(whole, { timeout: patience });
          return false;
        }
        const button = page.locator(".quick-input-action .monaco-button", { hasText: "Choose" });
        await button.click({ timeout: soon }).catch(() => undefined);
        return goes(titled(dialog), soon);
      });
    };
    await vscode.command("Fulcrum: Run Causal Profiler");
    await title("(1/4)");
    // Programs that are found later move it down.
    await row("build/serial").first().waitFor();
    const browse = row("Browse…");
    await browse.click();
    await title("Choose Program");
    // Cancelling the dialog returns to the question.
    await page.keyboard.press("Escape");
    await title("(1/4)");
    await browse.click();
    await choose("Choose Program", "build/serial");
    await vscode.answer("(2/4)");
    await title("(3/4)");
    await page.locator(".quick-input-titlebar .action-label[aria-label^='Browse']").click();
    await choose("Choose Working Folder", "build");
    await title("(3/4)");
    await until(page, "the folder in the box", async () => /build\/?$/.test(await input.inputValue()));
    await page.keyboard.press("Escape");
  });

  await test("a target is built before it runs, and the wizard asks what counts as progress", async () => {
    await vscode.command("Fulcrum: Run Causal Profiler");
    await vscode.asked("(1/4)");
    await page
      .locator(".quick-input-list .monaco-list-row", { hasText: /spin.*make in made/ })
      .first()
      .waitFor();
    await vscode.answer("(1/4)", "spin");
    await vscode.answer("(2/4)");
    await vscode.answer("(3/4)");
    const seconds = page.locator(".quick-input-box input").first();
    await vscode.asked("(4/4)");
    await until(page, "the proposed minute", async () => (await seconds.inputValue()) === "60");
    await vscode.answer("(4/4)");
    await vscode.asked("What Is Progress for spin");
    const bytes = readFileSync(path.join(workspace.folder, "made/spin"));
    assert.ok(bytes.includes(".debug_info"), "built with debug information, although the makefile does not ask for it");
    await page.keyboard.press("Escape");
    await vscode.command("View: Hide Panel");
  });

  await test("the profiler runs from the palette and its results appear", async () => {
    await vscode.openFile("serial.cpp");
    await vscode.command("Fulcrum: Clear Results");
    await until(page, "an empty gutter", async () => Object.keys(await vscode.gutterCells()).length === 0);
    await vscode.command("Fulcrum: Run Causal Profiler");
    await vscode.asked("(1/4)");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "build/serial" }).first().waitFor();
    await vscode.answer("(1/4)", "build/serial");
    await vscode.answer("(2/4)");
    await vscode.answer("(3/4)");
    await vscode.answer("(4/4)", "");
    // The result depends on what else the machine is doing. `bench accuracy` judges it; here it only has to appear.
    await until(page, "the longer loop in the ranking", async () =>
      (await vscode.rankingRows()).some((row) => /^serial\.cpp:8\D/.test(row)),
    );
    await until(page, "a shape in the gutter", async () => Object.keys(await vscode.gutterCells()).length > 0);
    assert.match((await vscode.statusText()) ?? "", /[1-9]\d*\sexperiment/);
    engine = recorderOf(lastRun());
    await vscode.command("Fulcrum: Stop the Causal Profiler");
    await until(page, "the run to end", async () => {
      const text = await vscode.statusText();
      return text !== null && !/experiment/.test(text);
    });
    await vscode.command("Notifications: Show Notifications");
    await page.locator(".notifications-center .notification-list-item-message", { hasText: /^serial/ }).waitFor();
    assert.ok(Object.keys(await vscode.gutterCells()).length > 0);
    // A button repeats the run.
    await page.locator("[id*='fulcrum.runAgain']").first().waitFor();
    await page.locator(".pane-header[aria-label*='Ranking'] .action-label[aria-label='Run Again']").first().waitFor({
      state: "attached",
    });
    const { kind, ended, environmentNames } = JSON.parse(readFileSync(path.join(lastRun(), "run.json"), "utf8"));
    assert.deepEqual([kind, ended], ["causal", "stopped"]);
    assert.deepEqual(
      environmentNames.filter((name) => /^(VSCODE_|ELECTRON_)/.test(name)),
      [],
    );
  });

  await test("a killed engine restarts, and the gutter follows edits again", async () => {
    await vscode.command("Notifications: Clear All Notifications");
    const lines = Object.keys(await vscode.gutterCells()).map(Number);
    process.kill(engine, "SIGKILL");
    await vscode.goToLine(1);
    await page.keyboard.type("//\n");
    await until(page, "the shapes one line lower", async () => {
      const cells = await vscode.gutterCells();
      return lines.every((line) => cells[line + 1] !== undefined);
    });
    // The code recorded at line 8 is now at line 9. Only an engine that knows of the edit says so.
    await vscode.command("Fulcrum: Open Last Run");
    await until(page, "the longer loop at its new line", async () =>
      (await vscode.rankingRows()).some((row) => /^serial\.cpp:9\D/.test(row)),
    );
  });

  await test("the shapes change with the theme", async () => {
    const before = Object.values(await vscode.gutterCells())[0]?.svg;
    configure({ "workbench.colorTheme": "Default Light Modern" });
    await until(page, "other colours", async () => {
      const svg = Object.values(await vscode.gutterCells())[0]?.svg;
      return svg !== undefined && svg !== before;
    });
  });

  await test("a setting moves the shapes from the gutter to the end of the line", async () => {
    configure({ "fulcrum.gutter": "inline" });
    await until(page, "an empty gutter", async () => Object.keys(await vscode.gutterCells()).length === 0);
  });
}
