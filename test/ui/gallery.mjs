/**
 * The gallery: pictures of every view in every theme, at double scale, in `out/gallery`. It checks nothing.
 * `node test/ui/gallery.mjs first`: only the first minutes.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { startEditor } from "../../scripts/editor.mjs";
import { launchBrowser, openPage, quietSettings } from "../support/browser.mjs";
import { root } from "../support/root.mjs";
import { writeLoop } from "../support/runs.mjs";
import { engineBinary, fixedRuns, makeWorkspace, stageExtension } from "../support/stage.mjs";
import { recordShop } from "../support/transactions.mjs";
import { galleryFirst } from "./galleryFirst.mjs";
import { explorerMenu, navigatorPage } from "./navigator.mjs";
import { themes } from "./themes.mjs";
import { buildDispatcher, dispatcherCommand } from "./trace.mjs";
import { frameWith, settled, until, workbench } from "./workbench.mjs";

const pictures = path.join(root, "out", "gallery");
rmSync(pictures, { recursive: true, force: true });
mkdirSync(pictures, { recursive: true });

const browser = await launchBrowser();
try {
  await galleryFirst(browser, pictures);
  if (process.argv[2] !== "first") {
    await galleryViews(browser);
  }
} finally {
  await browser.close();
}

async function galleryViews(browser) {
  const workspace = makeWorkspace();
  buildDispatcher(workspace.folder);
  const editor = await startEditor({
    extensions: [await stageExtension()],
    settings: quietSettings,
    env: { FULCRUM_ENGINE: engineBinary() },
  });
  try {
    const page = await openPage(browser, editor.url(workspace.folder), { scale: 2 });
    const vscode = workbench(page);
    await vscode.ready();
    const open = explorerMenu(vscode);

    /**
     * Takes pictures in all themes. `frame` is the webview in the picture, if any. `show` shows it again if a change of theme
     * hides it.
     */
    const photograph = async (name, frame, show = async () => undefined) => {
      await vscode.command("Notifications: Clear All Notifications");
      for (const [suffix, [theme, , workbenchClass, pageClass]] of Object.entries(themes)) {
        const before = await gutter();
        mkdirSync(path.join(workspace.folder, ".vscode"), { recursive: true });
        const settings = JSON.stringify({ "workbench.colorTheme": theme });
        writeFileSync(path.join(workspace.folder, ".vscode", "settings.json"), settings);
        await page.locator(`.monaco-workbench.${workbenchClass}`).waitFor();
        if (before !== "") {
          await until(page, "shapes in other colours", async () => (await gutter()) !== before);
        }
        if (frame !== undefined) {
          await frame.locator(`body.${pageClass}`).waitFor();
          if ((await frame.locator("body").getAttribute("data-settled")) !== null) {
            await settled(frame);
          }
        }
        await show();
        const file = path.join(pictures, `${name}-${suffix}.png`);
        await page.screenshot({ path: file, animations: "disabled" });
        console.log(path.relative(root, file));
      }
    };
    const gutter = async () => {
      const shown = await page.locator(".editor-instance .monaco-editor").count();
      return shown === 0
        ? ""
        : Object.values(await vscode.gutterCells())
            .map(({ svg }) => svg)
            .join("");
    };

    await vscode.openFile("two-threads.cpp");
    await until(page, "shapes in the gutter", async () => (await gutter()) !== "");
    await vscode.showRanking();
    await photograph("gutter");
    const plot = page.locator(".monaco-hover img[alt^='Plot of program speedup']").first();
    await photograph("hover", undefined, () => vscode.hover("10500000", plot));

    await vscode.command("View: Close All Editors");
    await vscode.command("File: Focus on Files Explorer");
    await vscode.reveal(".fulcrum", "runs", fixedRuns.before);
    await vscode.contextMenu(vscode.explorerRow(fixedRuns.before), "Select Run for Compare");
    await vscode.contextMenu(vscode.explorerRow(fixedRuns.after), "Compare with Selected");
    await photograph("compare", await frameWith(page, "p.actual"));

    await vscode.command("View: Close All Editors");
    await open("security-off.folded", "Select Profile for Compare");
    await open("security-on.folded", "Compare with Selected Profile");
    const nav = await navigatorPage(page);
    await nav.press("u");
    await nav.begins("SecurityManager.getClassContext");
    await nav.go("SecurityManager.getClassContext");
    await nav.current("SecurityManager.getClassContext");
    await nav.label("class context");
    await photograph("navigator", nav.frame);
    await nav.press("g");
    await photograph("flame", await frameWith(page, "#canvas"));

    await vscode.command("View: Close All Editors");
    // Not earlier: if the newest run is a trace, no causal results open at startup.
    writeLoop(workspace.folder);
    await vscode.command("Fulcrum: Show Runs");
    await page.locator(".sidebar .monaco-list-row", { hasText: /^shop/ }).first().click();
    await photograph("runs", await frameWith(page, "[aria-label='Refine loop'] tbody tr"));

    await vscode.command("View: Close All Editors");
    await vscode.command("View: Close Primary Side Bar");
    await vscode.command("Fulcrum: Record a Trace");
    await vscode.answer("(1/2)", dispatcherCommand);
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "dispatcher.fulcrum-filter" }).click();
    const trace = await frameWith(page, "#trace:not([hidden]) #events");
    await until(page, "threads over time", () =>
      trace.locator("#drawing").evaluate((canvas) => Number(canvas.dataset.drawn) > 20),
    );
    await photograph("trace", trace);

    await vscode.command("View: Close All Editors");
    await recordShop(workspace.folder);
    await vscode.command("Fulcrum: Open Transactions");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "shop" }).first().click();
    const transactions = await frameWith(page, "#types tbody tr");
    await transactions.locator("#types tr.type").first().focus();
    await page.keyboard.press("ArrowRight");
    await transactions.locator("#crosstalk .cell").click();
    await photograph("transactions", transactions);
    await transactions.locator("#wayPart").evaluate((part) => part.scrollIntoView({ block: "end" }));
    await photograph("transactions-stages", transactions);
    await recordShop(workspace.folder);
    await transactions.locator("#types tr[data-key='GET /buy']").click();
    await page.keyboard.press("c");
    await vscode.answer("Compare GET /buy (A) With (B)", "GET /list");
    const navigator = await frameWith(page, "#rows .row");
    await until(page, "the comparison", async () =>
      ((await navigator.locator(".title").first().textContent()) ?? "").includes("GET /list"),
    );
    await photograph("transactions-navigator", navigator);
    await vscode.command("View: Close All Editors");
    await vscode.command("Fulcrum: Compare Transactions");
    for (const question of ["A, the Run to Examine", "B, the Base"]) {
      await vscode.answer(question);
    }
    const compared = await frameWith(page, "#compared tbody tr");
    await photograph("transactions-compared", compared);
  } finally {
    await editor.stop();
    workspace.remove();
  }
}
