/** Every page in every theme: axe-core finds nothing serious in it. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { seriousIn } from "../support/axe.mjs";
import { root } from "../support/root.mjs";
import { writeLoop } from "../support/runs.mjs";
import { copyTraces, fixedRuns } from "../support/stage.mjs";
import { recordShop } from "../support/transactions.mjs";
import { explorerMenu, navigatorPage } from "./navigator.mjs";
import { themes } from "./themes.mjs";
import { frameWith, settled, until } from "./workbench.mjs";

const pictures = path.join(root, "out", "test-results", "pages");

export async function preparePages(folder) {
  copyTraces(folder);
  writeLoop(folder);
  await recordShop(folder);
  await recordShop(folder);
}

export async function pagesTests({ test, vscode, page, configure }) {
  const open = explorerMenu(vscode);
  mkdirSync(pictures, { recursive: true });

  const found = [];
  const check = (name, show, place = "editor") =>
    test(`the page in every theme: ${name}`, async () => {
      const frame = await show();
      await vscode.command("Notifications: Clear All Notifications");
      for (const [theme, , , pageClass] of Object.values(themes)) {
        configure({ "workbench.colorTheme": theme });
        await frame.locator(`body.${pageClass}`).waitFor();
        if ((await frame.locator("body").getAttribute("data-settled")) !== null) {
          await settled(frame);
        }
        const file = `${name.replaceAll(/[ ,]+/g, "-")}-${pageClass.replace("vscode-", "")}.png`;
        await page.screenshot({ path: path.join(pictures, file), animations: "disabled" });
        found.push(...(await seriousIn(frame, place)).map((it) => `${name}, ${pageClass}: ${it}`));
        found.push(...(await unclearToggles(frame)).map((it) => `${name}, ${pageClass}: ${it}`));
      }
    });
  const alone = () => vscode.command("View: Close All Editors");
  const inRuns = async (name, item) => {
    await vscode.command("File: Focus on Files Explorer");
    await vscode.reveal(".fulcrum", "runs", name);
    await vscode.contextMenu(vscode.explorerRow(name), item);
  };

  await check(
    "navigator, empty",
    async () => {
      await vscode.command("Fulcrum: Focus on Navigator View");
      const frame = await frameWith(page, "#rows");
      await frame.locator("button", { hasText: "Open Profile…" }).waitFor();
      return frame;
    },
    "sideBar",
  );

  let nav;
  await check("file", async () => {
    await vscode.command("File: Focus on Files Explorer");
    await (await vscode.reveal("profiles", "server.folded")).dblclick();
    nav = await navigatorPage(page);
    await nav.begins("main", "shop::serve");
    const frame = await frameWith(page, "#says");
    await frame.locator("button", { hasText: "Find Bottlenecks" }).waitFor();
    return frame;
  });

  await check(
    "navigator",
    async () => {
      await alone();
      await nav.go("shop::render");
      await nav.current("shop::render");
      await nav.label("rendering");
      await nav.press("s");
      await nav.begins("main", "shop::serve");
      await nav.go("shop::serve");
      await nav.current("shop::serve");
      return nav.frame;
    },
    "sideBar",
  );

  await check("flame graph", async () => {
    await nav.press("g");
    return frameWith(page, "#canvas");
  });

  await check(
    "navigator, comparing",
    async () => {
      await alone();
      await open("security-off.folded", "Select Profile for Compare");
      await open("security-on.folded", "Compare with Selected Profile");
      await until(page, "the comparison", async () =>
        (await nav.frame.locator(".title").textContent())?.includes("security-on"),
      );
      await nav.press("b");
      await vscode.asked(/bottlenecks? covers?/);
      await page.keyboard.press("Enter");
      await nav.frame.locator(".coverage").waitFor();
      return nav.frame;
    },
    "sideBar",
  );

  await check("flame graph, comparing", async () => {
    await nav.press("g");
    return frameWith(page, "#canvas");
  });

  await check("predicted and actual", async () => {
    await alone();
    await inRuns(fixedRuns.before, "Select Run for Compare");
    await inRuns(fixedRuns.after, "Compare with Selected");
    return frameWith(page, "p.actual");
  });

  await check("trace", async () => {
    await alone();
    await inRuns("20261121T121500Z-observed", "Open Trace");
    const frame = await frameWith(page, "#trace:not([hidden]) #events .row");
    await frame.locator("#events").press("ArrowDown");
    return frame;
  });

  await check("traces compared", async () => {
    await alone();
    await inRuns("20261121T121000Z-observed", "Select Run for Compare");
    await inRuns("20261121T121500Z-observed", "Compare with Selected");
    return frameWith(page, "#summary");
  });

  await check("refine", async () => {
    await alone();
    await vscode.command("Fulcrum: Show Runs");
    await page
      .locator(".sidebar .monaco-list-row", { hasText: /^shop\.Main/ })
      .first()
      .click();
    return frameWith(page, "[aria-label='Refine loop'] tbody tr");
  });

  await check("transactions", async () => {
    await alone();
    await vscode.command("Fulcrum: Open Transactions");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "shop" }).first().click();
    const frame = await frameWith(page, "#types tbody tr");
    await frame.locator("#types tr.type").first().focus();
    await page.keyboard.press("ArrowRight");
    // With call paths that lead to the source.
    await frame.locator("#crosstalk .cell").click();
    return frame;
  });

  await check("transactions compared", async () => {
    await alone();
    await vscode.command("Fulcrum: Compare Transactions");
    for (const question of ["A, the Run to Examine", "B, the Base"]) {
      await vscode.answer(question);
    }
    const frame = await frameWith(page, "#compared tbody tr");
    // Every look of a difference, whatever these two runs happened to differ by.
    await frame.locator("#compared td:is(.more, .less, .noise)").evaluateAll((cells) => {
      const looks = ["more", "less", "noise"];
      for (const [n, cell] of cells.entries()) {
        cell.className = looks[n % looks.length];
      }
      if (cells.length < looks.length) {
        throw new Error(`Only ${cells.length} differences are shown.`);
      }
    });
    return frame;
  });

  await test("no page has a serious problem", async () => assert.deepEqual(found, []));
}

/** Toggles that do not show whether they are pressed, or that look disabled. */
function unclearToggles(frame) {
  return frame.locator("[aria-pressed]:visible").evaluateAll((toggles) => {
    const looks = (node) => {
      const { backgroundColor, borderColor, outlineStyle, outlineColor, boxShadow, color } = getComputedStyle(node);
      return [backgroundColor, borderColor, outlineStyle, outlineColor, boxShadow, color].join(" ");
    };
    const name = (node) => node.getAttribute("aria-label") ?? node.textContent;
    return toggles.flatMap((node) => {
      const pressed = node.getAttribute("aria-pressed");
      const others = toggles.filter(
        (it) => it.className === node.className && it.getAttribute("aria-pressed") !== pressed,
      );
      const isUnclear = others.some((it) => looks(it) === looks(node));
      const looksDisabled = !node.matches(":disabled") && Number(getComputedStyle(node).opacity) < 1;
      return [
        ...(isUnclear ? [`${name(node)} looks the same pressed and not pressed`] : []),
        ...(looksDisabled ? [`${name(node)} looks disabled`] : []),
      ];
    });
  });
}
