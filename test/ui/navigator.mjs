/** Bottleneck search by keyboard: the paper's Figure 2, its worked example (§2.3), labels, the automatic search. */
import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../support/root.mjs";
import { appears, asked, frameWith, patience, until, walk } from "./workbench.mjs";

const plain = (text) => (text ?? "").replaceAll("\u00a0", " ").trim();

/** The Navigator as a user sees it: rows on screen, the current path, its costs. */
export async function navigatorPage(page) {
  const frame = await frameWith(page, "#rows");
  const rows = async () =>
    (
      await frame.locator("#rows").evaluateAll(([list]) =>
        [...list.querySelectorAll(".row:not(.pending)")].map((row) => ({
          name: row.querySelector(".name bdi").textContent,
          cells: [...row.querySelectorAll(".cell")].map((cell) => cell.textContent),
          active: row.classList.contains("active"),
          dots: row.querySelectorAll(".dot").length,
        })),
      )
    ).map((row) => ({ ...row, cells: row.cells.map(plain) }));
  const self = {
    frame,
    rows,
    path: () => frame.locator(".path button").evaluateAll((all) => all.map((it) => it.title.split("\n")[0])),
    /** `15 %`, by `Base` or `Cum`. */
    share: async (name) =>
      plain(await frame.locator(".metrics .metric", { hasText: name }).locator(".share").first().textContent()),
    overlap: async (label) =>
      plain(await frame.locator(".overlaps .metric", { hasText: label }).locator(".share").first().textContent()),
    headings: async () => (await frame.locator("#rows .heading").allTextContents()).map(plain),
    remarks: async () => (await frame.locator("#rows .remark").allTextContents()).map(plain),
    crumbs: async () => (await frame.locator(".crumbs li button").allTextContents()).map(plain),
    coverage: async () => plain(await frame.locator(".coverage h2").textContent()),
    /** The keys are keybindings of the editor. They apply once the editor knows of the focus. */
    async focus() {
      await until(page, "the Navigator's keys to apply", async () => {
        await frame.locator("#rows").focus();
        return appears(frame.locator("body.keys"), patience);
      });
    },
    async press(key) {
      await self.focus();
      await page.keyboard.press(key);
    },
    /** Waits for the rows to be drawn and to begin with these names. */
    begins: (...names) =>
      until(page, `rows that begin with ${names.join(", ")}`, async () => {
        const shown = await rows();
        return names.every((name, n) => shown[n]?.name === name) && shown;
      }),
    current: (...names) =>
      until(page, `the path ${names.join(" → ")}`, async () => {
        const path = await self.path();
        return path.length === names.length && names.every((name, n) => path[n] === name);
      }),
    /** Moves the cursor to a row by the arrow keys, and selects it. */
    async go(name) {
      await self.focus();
      await walk({
        page,
        list: frame.locator("#rows"),
        name: ".name bdi",
        wanted: (text) => text === name,
      });
      await page.keyboard.press("Enter");
    },
    async label(name) {
      await self.press("l");
      await asked(page, "Label");
      await page.locator(".quick-input-widget input:visible").first().fill(name);
      await page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().waitFor();
      await page.keyboard.press("Enter");
      await frame.locator(".labels .tag", { hasText: name }).waitFor();
    },
    async find(text) {
      await self.press("/");
      await asked(page, "Find Functions");
      await page.locator(".quick-input-widget input:visible").first().fill(text);
      await page.keyboard.press("Enter");
      await until(page, `functions with ${text}`, async () => {
        const shown = await rows();
        return shown.length > 0 && shown.every((row) => row.name.includes(text));
      });
    },
  };
  return self;
}

/** The explorer's menu for a file in the folder `profiles`. */
export function explorerMenu(vscode) {
  return async (name, item) => {
    await vscode.command("File: Focus on Files Explorer");
    const row = await vscode.reveal("profiles", name);
    await vscode.contextMenu(row, item);
  };
}

/** The format of `py-spy record -f raw`: each function with the line that ran. */
const pyspy = "main (app.py:3);total (cart.py:12) 4\nmain (app.py:3);total (cart.py:14) 3\nmain (app.py:3) 1\n";

export async function navigatorTests({ test, vscode, page, configure, workspace }) {
  const explorer = explorerMenu(vscode);
  let nav;

  await test("without a profile, the Navigator says how to start", async () => {
    await vscode.command("Notifications: Clear All Notifications");
    await vscode.command("View: Close All Editors");
    await vscode.command("Fulcrum: Focus on Navigator View");
    const frame = await frameWith(page, "#rows");
    await frame.locator("button", { hasText: "Open Profile…" }).waitFor();
    // As users have it: the other view folded, the side bar a little wider.
    await page.locator(".sidebar .pane-header", { hasText: "Ranking" }).click();
    const sidebar = () => page.locator(".part.sidebar").boundingBox();
    const { x, width } = await sidebar();
    await until(page, "a wider side bar", async () => {
      const right = await sidebar();
      await page.mouse.move(right.x + right.width, 400);
      await page.mouse.down();
      await page.mouse.move(x + width + 95, 400, { steps: 5 });
      await page.mouse.up();
      return (await sidebar()).width > width + 60;
    });
  });

  await test("a profile from the explorer opens in the Navigator, ranked from the top", async () => {
    await explorer("figure2.folded", "Open Profile…");
    nav = await navigatorPage(page);
    const rows = await nav.begins("a", "c");
    assert.deepEqual(rows[0].cells, ["1 %", "100 %"]);
    assert.deepEqual(rows[1].cells, ["15 %", "97 %"]);
    assert.equal(rows.length, 5);
    assert.match(plain(await nav.frame.locator("#header").textContent()), /figure2\.folded.*of 100/);
  });

  await test("Figure 2 by keyboard: HighBase, select, extend, and zoom straight to [a b c d]", async () => {
    await nav.press("u");
    await nav.begins("e", "d", "c", "b", "a");
    assert.deepEqual(await nav.headings(), ["Functions by base · 5"]);
    await nav.go("c");
    await nav.current("c");
    assert.deepEqual([await nav.share("Base"), await nav.share("Cum")], ["15 %", "97 %"]);
    await nav.begins("a", "b", "e", "d");
    await nav.press("Backspace");
    await nav.press("s");
    await nav.begins("e", "d");
    await nav.go("d");
    await nav.current("d");
    await nav.press("e");
    await nav.current("c", "d");
    await nav.press("z");
    await nav.begins("a → b");
    await nav.go("a → b");
    await nav.current("a", "b", "c", "d");
    assert.equal(await nav.share("Cum"), "48 %");
    assert.deepEqual((await nav.crumbs()).at(-1), "a → … → d");
  });

  await test("a label, and its overlap with the next path", async () => {
    await nav.label("left");
    assert.match(await nav.coverage(), /^48 % of 100 is labelled/);
    await nav.press("z");
    await nav.press("s");
    await nav.begins("e", "d");
    await nav.go("e");
    await nav.current("e");
    assert.equal(plain(await nav.frame.locator(".apart").textContent()), "Nothing in common with left.");
    await nav.press("e");
    await nav.press("e");
    await nav.current("a", "c", "e");
    // Only the own cost of `a` is in both: 1 of 53.
    assert.equal(await nav.overlap("left"), "1.89 %");
    assert.match(
      plain(await nav.frame.locator(".overlaps").textContent()),
      /98\.1 % of this path's cum has no label yet/,
    );
  });

  await test("every input returns the focus, so that the next key is the Navigator's", async () => {
    const keysHold = () => nav.frame.locator("body.keys").waitFor();
    const zoom = (on) => nav.frame.locator(`.choice[aria-pressed=${on}]`, { hasText: "Zoom" }).waitFor();
    const opens = async (title) => {
      await vscode.asked(title);
      await nav.frame.locator("body:not(.keys)").waitFor();
    };
    await nav.label("again");
    await keysHold();
    await page.keyboard.press("z");
    await zoom(true);
    // Escape is not an answer, and returns the focus as well.
    await page.keyboard.press("/");
    await opens("Find Functions");
    await page.keyboard.press("Escape");
    await keysHold();
    await page.keyboard.press("z");
    await zoom(false);
    // An input opened from the list of keys.
    await page.keyboard.press("Shift+Slash");
    await opens("Keys of the Navigator");
    await page.keyboard.type("Set what zooming keeps");
    await page.locator(".quick-input-list .monaco-list-row.focused", { hasText: "Set what zooming keeps" }).waitFor();
    await page.keyboard.press("Enter");
    await opens("Zoom Cutoff");
    await page.keyboard.press("Enter");
    await keysHold();
    await page.keyboard.press("Shift+L");
    await nav.frame.locator(".labels .tag", { hasText: "again" }).waitFor({ state: "detached" });
  });

  await test("back, forward, trims", async () => {
    await nav.press("Backspace");
    await nav.current("c", "e");
    await nav.press("Shift+Backspace");
    await nav.current("a", "c", "e");
    await nav.press("t");
    await nav.current("c", "e");
    await nav.press("Shift+T");
    await nav.current("c");
    await nav.frame.locator(".crumbs button", { hasText: "a → … → e" }).first().click();
    await nav.current("a", "c", "e");
  });

  await test("two profiles from the explorer open as a comparison, with A, B and Δ", async () => {
    await explorer("security-off.folded", "Select Profile for Compare");
    await explorer("security-on.folded", "Compare with Selected Profile");
    await until(page, "the comparison", async () =>
      (await nav.frame.locator(".title").textContent())?.includes("security-on"),
    );
    assert.match(plain(await nav.frame.locator("#header").textContent()), /A 30,000.* − B 20,000/);
    await nav.press("u");
    const rows = await nav.begins("SecurityManager.getClassContext");
    assert.deepEqual(rows[0].cells, ["985", "0", "+985"]);
  });

  await test("§2.3: from getClassContext up to the bottleneck that is 25 % of the overhead", async () => {
    await nav.go("SecurityManager.getClassContext");
    await nav.current("SecurityManager.getClassContext");
    assert.equal(await nav.share("Base"), "9.85 %");
    for (let step = 0; step < 6; step += 1) {
      const before = (await nav.path()).length;
      await nav.press("e");
      await until(page, "a longer path", async () => (await nav.path()).length === before + 1);
    }
    await nav.current(
      ...["CCommandImpl.execute", "TCommandImpl.setOutputProperties", "AccessController.doPrivileged"],
      ...["TCommandImpl$1.run", "Class.checkMemberAccess", "SecurityManager.checkMemberAccess"],
      "SecurityManager.getClassContext",
    );
    assert.equal(await nav.share("Cum"), "25 %");
    // Many commands call it, and none of them dominates: a bottleneck.
    await nav.begins("Trade.quote", "Trade.buy", "Trade.sell", "Trade.portfolio", "Trade.login");
    await nav.label("bottleneck");
    await nav.focus();
  });

  await test("the next candidates show their overlap with it", async () => {
    await nav.find("getStackACC");
    await nav.begins("AccessController.getStackACC");
    await nav.go("AccessController.getStackACC");
    await nav.current("AccessController.getStackACC");
    assert.equal(plain(await nav.frame.locator(".apart").textContent()), "Nothing in common with bottleneck.");
    await nav.find("doPrivileged");
    await nav.begins("AccessController.doPrivileged");
    await nav.go("AccessController.doPrivileged");
    await nav.current("AccessController.doPrivileged");
    assert.equal(await nav.overlap("bottleneck"), "64.7 %");
    await nav.focus();
  });

  await test("Find Bottlenecks lists paths with their reasons; Enter labels them", async () => {
    await nav.press("b");
    await vscode.asked(/bottlenecks? covers? .*% of the difference/);
    const items = page.locator(".quick-input-list .monaco-list-row");
    assert.ok((await items.count()) >= 3, "several are found");
    await page.keyboard.press("Enter");
    const covered = await until(page, "more coverage", async () => {
      const percent = Number(/^([\d.]+) %/.exec(await nav.coverage())?.[1]);
      return percent > 60 && percent;
    });
    assert.ok(covered <= 110, `${covered} % is covered`);
    assert.ok((await nav.frame.locator(".legend li").count()) >= 4);
    await nav.focus();
  });

  await test("the labels become a Markdown report", async () => {
    await nav.press("r");
    await page.locator(".tab.active", { hasText: /Untitled|^#/ }).waitFor();
    const text = await until(page, "the report", async () => {
      const shown = await vscode.documentText();
      return shown.includes("bottleneck") && shown;
    });
    assert.match(text, /TCommandImpl\.setOutputProperties/);
    await vscode.command("View: Revert and Close Editor");
  });

  await test("name rules are chosen from a list, and apply to the open profile", async () => {
    writeFileSync(path.join(workspace.folder, "profiles", "pyspy.folded"), pyspy);
    await explorer("pyspy.folded", "Open Profile…");
    await nav.begins("main (app.py:3)", "total (cart.py:12)", "total (cart.py:14)");
    const rule = page.locator(".quick-input-list .monaco-list-row", { hasText: "source-line" });
    // A click on a check box moves the keyboard focus to it.
    const toggle = () =>
      rule.locator("input[type=checkbox], .monaco-checkbox, .quick-input-list-checkbox").first().click();
    const accept = () => page.locator(".quick-input-action .monaco-button", { hasText: "OK" }).click();
    const choose = async () => {
      await vscode.command("Navigator: Choose Rules for Names…");
      await vscode.asked("Rules for Names");
      await rule.waitFor();
    };
    await choose();
    assert.match(plain(await rule.textContent()), /total \(cart\.py:12\) → total \(cart\.py\)/);
    await toggle();
    await accept();
    const joined = await nav.begins("main (app.py)", "total (cart.py)");
    assert.equal(joined.length, 2);
    assert.deepEqual(joined[1].cells, ["87.5 %", "87.5 %"]);
    // What the rules changed, before and after.
    await choose();
    assert.match(plain(await rule.textContent()), /3 names here/);
    await page.locator(".quick-input-titlebar .action-label[aria-label^='Show Names']").click();
    await until(page, "the names", async () => (await vscode.documentText()).includes("`total (cart.py:14)`"));
    // Restore the choice.
    await choose();
    await toggle();
    await accept();
    await nav.begins("main (app.py:3)", "total (cart.py:12)", "total (cart.py:14)");
    await vscode.command("View: Revert and Close Editor");
  });

  await test("a JSON file with stackprof before its extension is offered as a profile", async () => {
    const sample = path.join(root, "engine/crates/profile-formats/tests/samples/work.stackprof.json");
    copyFileSync(sample, path.join(workspace.folder, "profiles", "ruby-stackprof.json"));
    await explorer("ruby-stackprof.json", "Open Profile…");
    const title = nav.frame.locator(".title");
    await until(page, "the profile", async () => (await title.textContent()) === "ruby-stackprof.json");
  });

  await test("runs of the same length: the search finds what became costlier", async () => {
    const write = (name, text) => writeFileSync(path.join(workspace.folder, "profiles", name), text);
    write("minute-1.folded", "main;read;parse 200\nmain;write 700\nmain 100\n");
    write("minute-2.folded", "main;read;parse 700\nmain;write 200\nmain 100\n");
    await explorer("minute-1.folded", "Select Profile for Compare");
    await explorer("minute-2.folded", "Compare with Selected Profile");
    await nav.begins("parse", "read", "write");
    await nav.press("b");
    const title = "1 bottleneck covers 100";
    await vscode.asked(title);
    const whole = plain(await page.locator(".quick-input-title", { hasText: title }).textContent());
    assert.match(whole, /% of what became costlier$/);
    await page.keyboard.press("Enter");
    await nav.frame.locator(".legend li", { hasText: "parse" }).waitFor();
    assert.equal(await nav.coverage(), "100 % of 500 is labelled");
    await nav.focus();
  });

  await test("frames open at their definitions, and hot lines are bars in the gutter", async () => {
    configure({ "fulcrum.gutter": "gutter" });
    await explorer("server.folded", "Open Profile…");
    await until(page, "the profile", async () => (await nav.frame.locator(".title").textContent()) === "server.folded");
    await nav.begins("main", "shop::serve");
    await nav.go("shop::render");
    await nav.current("shop::render");
    await nav.press("o");
    await page.locator(".tab.active", { hasText: "server.cpp" }).waitFor();
    await page.locator(".statusbar-item", { hasText: "Ln 34," }).waitFor();
    const cells = await until(page, "bars in the gutter", async () => {
      const shown = await vscode.gutterCells();
      return Object.keys(shown).length >= 4 && shown;
    });
    assert.ok(Object.values(cells).every(({ svg }) => svg.includes("<rect") && !svg.includes("<path")));
    assert.match(plain(await vscode.statusText()), /Hot lines: server\.folded/);
    assert.match(await vscode.lineText(34), /\(17(\.0)? %\) here, .* with calls/);
  });

  await test("for a comparison, the gutter shows differences: bars up and bars down", async () => {
    await explorer("server-before.folded", "Select Profile for Compare");
    await explorer("server.folded", "Compare with Selected Profile");
    const title = "server.folded − server-before.folded";
    await until(page, "the comparison", async () => (await nav.frame.locator(".title").textContent()) === title);
    assert.match(
      await nav.frame.locator(".title").getAttribute("title"),
      /^A: server\.folded\nB: server-before\.folded/,
    );
    await page.locator(".tab", { hasText: "server.cpp" }).click();
    const zero = 'width="16" height="1"';
    const cells = await until(page, "differences in the gutter", async () => {
      const shown = await vscode.gutterCells();
      return Object.values(shown).some(({ svg }) => svg.includes(zero)) && shown;
    });
    assert.ok(Object.values(cells).every(({ svg }) => svg.includes(zero)));
    // parse became costlier, render cheaper: its own cost is 170 instead of 260.
    const hangs = ({ svg }) => svg.includes(`y="2" ${zero}`);
    assert.ok(!hangs(cells[24]) && hangs(cells[34]), "parse stands, render hangs");
    assert.match(await vscode.lineText(34), /−90 here \(A 170 − B 260\), −50 with calls \(A 512 − B 562\)$/);
    assert.match(await vscode.lineText(24), /\+150 here \(A 240 − B 90\)/);
    // Its own cost did not change.
    assert.match(await vscode.lineText(42), /\{\s*\+190 with calls \(A 990 − B 800\)$/);
    assert.match(plain(await vscode.statusText()), /Difference: server\.folded − server-before\.folded/);
    const hover = page.locator(".monaco-hover", { hasText: "Difference in" }).first();
    await vscode.hover("render", hover);
    assert.match(plain(await hover.textContent()), /−90 here \(A 170 − B 260\)/);
    // The next tests use this profile alone, and then the earlier comparison.
    await page.mouse.move(5, 5);
    await explorer("security-off.folded", "Select Profile for Compare");
    await explorer("server.folded", "Open Profile…");
    await nav.begins("main", "shop::serve");
    await nav.go("shop::render");
    await nav.current("shop::render");
  });

  await test("a double click opens a profile, and its tab offers the next step", async () => {
    await vscode.command("View: Close All Editors");
    await vscode.command("File: Focus on Files Explorer");
    const row = await vscode.reveal("profiles", "figure2.folded");
    await row.dblclick();
    const file = await frameWith(page, "#says");
    await file.locator("#says", { hasText: "It is open in the Navigator" }).waitFor();
    await nav.begins("a", "c");
    await file.locator("button", { hasText: "Find Bottlenecks" }).click();
    await nav.frame.locator(".coverage").waitFor();
    await file.locator("button", { hasText: "Open as Text" }).click();
    await page.locator(".editor-instance .view-line", { hasText: /^a;/ }).first().waitFor();
  });

  await test("the explorer offers Open Profile for a file with the content of a profile, and not for others", async () => {
    writeFileSync(
      path.join(workspace.folder, "profiles", "results.json"),
      '{"traceEvents":[{"ph":"X","ts":1,"dur":2}]}',
    );
    writeFileSync(path.join(workspace.folder, "profiles", "settings.json"), '{"mode":"dark"}');
    await vscode.command("File: Focus on Files Explorer");
    const item = page.locator(".monaco-menu .action-item", { hasText: "Open Profile…" }).first();
    const other = page.locator(".monaco-menu .action-item", { hasText: "Copy Path" }).first();
    const offered = async (name) => {
      const row = await vscode.reveal("profiles", name);
      await vscode.again(
        `the menu of ${name}`,
        () => row.click({ button: "right" }),
        () => appears(other, patience),
      );
      const seen = await item.isVisible();
      await page.keyboard.press("Escape");
      return seen;
    };
    await until(page, "Open Profile for results.json", () => offered("results.json"));
    assert.equal(await offered("settings.json"), false);
  });
}
