/** The gallery's pictures of the first minutes: what a new user sees, in every theme. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { startEditor } from "../../scripts/editor.mjs";
import { openPage, quietSettings } from "../support/browser.mjs";
import { Script } from "../support/play.mjs";
import { root } from "../support/root.mjs";
import { engineBinary, fixtureRun, makeWorkspace, scriptedEngine, stageExtension } from "../support/stage.mjs";
import { writeMade } from "./first.mjs";
import { writeShop } from "./java.mjs";
import { themes } from "./themes.mjs";
import { appears, patience, until, workbench } from "./workbench.mjs";

/**
 * @param {import("playwright-core").Browser} browser
 * @param {string} pictures their folder
 */
export async function galleryFirst(browser, pictures) {
  const workspace = makeWorkspace();
  writeMade(workspace.folder);
  writeShop(workspace.folder);
  const editor = await startEditor({
    extensions: [await stageExtension()],
    settings: quietSettings,
    env: { FULCRUM_ENGINE: scriptedEngine(engineBinary()) },
  });
  /** A window, with a function that takes pictures in all themes. `show` shows again what a change of theme hides. */
  const windowOf = async (folder, options = {}) => {
    const page = await openPage(browser, editor.url(folder), { scale: 2, ...options });
    const vscode = workbench(page);
    await vscode.ready();
    const photograph = async (name, show = async () => undefined) => {
      for (const [suffix, [theme, label, workbenchClass]] of Object.entries(themes)) {
        await (folder === undefined ? chooseTheme(page, vscode, label) : writeTheme(folder, theme));
        await page.locator(`.monaco-workbench.${workbenchClass}`).waitFor();
        await show();
        const file = path.join(pictures, `first-${name}-${suffix}.png`);
        await page.screenshot({ path: file, animations: "disabled" });
        console.log(path.relative(root, file));
      }
    };
    return { page, vscode, photograph };
  };
  try {
    await inFolder(await windowOf(workspace.folder), workspace.folder);
    await restricted(await windowOf(workspace.folder, { trusted: false }));
    await withoutFolder(await windowOf(undefined));
  } finally {
    await editor.stop();
    workspace.remove();
  }
}

function writeTheme(folder, theme) {
  mkdirSync(path.join(folder, ".vscode"), { recursive: true });
  writeFileSync(path.join(folder, ".vscode", "settings.json"), JSON.stringify({ "workbench.colorTheme": theme }));
}

/** For a window without a folder, which has no folder settings. */
async function chooseTheme(page, vscode, label) {
  const input = page.locator(".quick-input-widget input:visible").first();
  const row = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: label }).first();
  await vscode.again(
    `the theme ${label}`,
    async () => {
      await page.keyboard.press("Control+K");
      await page.keyboard.press("Control+T");
    },
    async () => {
      if (!(await appears(input, patience))) {
        return false;
      }
      await input.fill(label, { timeout: patience }).catch(() => undefined);
      return appears(row, patience);
    },
  );
  await page.keyboard.press("Enter");
}

async function inFolder({ page, vscode, photograph }, folder) {
  const titled = (text) => page.locator(".quick-input-title", { hasText: text }).waitFor();
  const inSidebar = (text) => page.locator(".sidebar .pane", { hasText: text }).first().waitFor();
  const row = (text) => page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first().waitFor();

  await vscode.openFile("two-threads.cpp");
  await vscode.showRanking();
  await vscode.command("Fulcrum: Clear Results");
  await inSidebar("Find out which line");
  await photograph("ranking-empty");

  const program = path.join(folder, "build/app");
  const script = new Script(program);
  copyFileSync("/bin/true", program);
  script.run(folder, path.join(folder, ".fulcrum/runs", fixtureRun), "20261122T090000Z-app", keepFew);
  await vscode.command("Fulcrum: Run Causal Profiler");
  await titled("(1/4)");
  await row("spin");
  await row("Server");
  await photograph("wizard-program");
  await vscode.answer("(1/4)", "build/app");
  for (const [step, name] of [
    ["(2/4)", "wizard-arguments"],
    ["(3/4)", "wizard-folder"],
    ["(4/4)", "wizard-duration"],
    ["What Is Progress for app", "wizard-progress"],
  ]) {
    await titled(step);
    await photograph(name);
    await vscode.answer(step, step.startsWith("What") ? "I do not know yet" : undefined);
  }

  script.report(4);
  await until(page, "the run", async () => (await vscode.statusText())?.includes("4 experiments"));
  await page.locator(".notifications-toasts .notification-list-item", { hasText: "Profiling app" }).waitFor();
  await photograph("running");
  script.end();
  const said = page.locator(".notifications-toasts .notification-list-item", { hasText: "no line has enough data" });
  await said.waitFor();
  await inSidebar("No line has enough data");
  await photograph("hollow");

  await vscode.command("Notifications: Clear All Notifications");
  await vscode.command("Fulcrum: Record a Trace");
  await titled("(1/2)");
  await row("Server");
  await photograph("trace-program");
  await vscode.answer("(1/2)", "Server");
  await titled("Arguments");
  await photograph("trace-arguments");
  await page.keyboard.press("Escape");
  await page.close();
}

/** The first nine experiments of a recording: enough for a row, too few for an answer. */
function keepFew(run) {
  const file = path.join(run, "causal-4321-0.jsonl");
  const lines = readFileSync(file, "utf8").split("\n").slice(0, 10);
  writeFileSync(file, `${lines.join("\n")}\n`);
}

async function restricted({ page, vscode, photograph }) {
  await vscode.openFile("two-threads.cpp");
  await vscode.showRanking();
  await vscode.command("Fulcrum: Clear Results");
  await page.locator(".sidebar .pane", { hasText: "Restricted Mode" }).first().waitFor();
  await photograph("restricted");
  await page.close();
}

async function withoutFolder({ page, vscode, photograph }) {
  await vscode.showRanking();
  await page.locator(".sidebar .pane", { hasText: "Open the folder of a program" }).first().waitFor();
  await photograph("no-folder");
  await photograph("walkthrough", async () => {
    await vscode.command("View: Close All Editors");
    await vscode.command("Fulcrum: Open Walkthrough");
    await page.locator(".getting-started-step", { hasText: "See a result" }).first().click();
  });
  await page.close();
}
