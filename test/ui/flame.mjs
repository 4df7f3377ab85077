/** The flame graph: whole and merged, by keyboard, searched, compared; it draws only what is visible. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { median } from "../../scripts/bench/lib/statistics.mjs";
import { explorerMenu, navigatorPage } from "./navigator.mjs";
import { drawnAfter, frameWith, settled, until } from "./workbench.mjs";

/** Four callees at every third level. Seven such levels have 65,533 nodes in 22 rows; nine have 1,048,573 in 28. */
function writeLarge(file, fours) {
  const lines = [];
  const grow = (stack, level) => {
    if (level === fours) {
      lines.push(`${stack} ${1 + (lines.length % 7)}`);
      return;
    }
    for (let n = 0; n < 4; n += 1) {
      grow(`${stack};f${level}_${n};g${level};h${n}`, level + 1);
    }
  };
  grow("main", 0);
  writeFileSync(file, `${lines.join("\n")}\n`);
}

/** `hot` is called by `wide`, and by `near`, at the end of a narrow chain of forty calls. */
function writeNarrowCallers(file) {
  const chain = Array.from({ length: 40 }, (_, n) => `d${n}`).join(";");
  writeFileSync(file, `main;wide;hot 9000\nmain;near;hot 995\n${chain};near;hot 5\n`);
}

/** One stack of 2,500 calls. */
function writeDeep(file) {
  writeFileSync(file, `${Array.from({ length: 2500 }, (_, n) => `f${n}`).join(";")} 10\n`);
}

export async function flameTests({ test, vscode, page, workspace }) {
  const plain = (text) => (text ?? "").replaceAll("\u00a0", " ");
  let flame;
  let nav;

  const spoken = async () => plain(await flame.locator("#spoken").textContent());
  const drawn = () =>
    flame.locator("#canvas").evaluate((canvas) => ({
      boxes: Number(canvas.dataset.drawn),
      milliseconds: Number(canvas.dataset.milliseconds),
    }));
  const says = async (pattern) => {
    let last = "";
    const probe = async () => {
      last = await spoken();
      return pattern.test(last) && last;
    };
    return until(page, () => `the selected frame to be ${pattern}, not ${JSON.stringify(last)}`, probe);
  };
  /** Presses a key in the graph, which gets the focus first. */
  const key = (name) => flame.locator("#canvas").press(name);

  /** The boxes down the middle of the page, from their tooltips, with the height at which each was found. */
  const column = async () => {
    const { x, y, width, height } = await flame.locator("#scroller").boundingBox();
    const seen = new Map();
    for (let down = 6; down < height; down += 18) {
      await page.mouse.move(x + width / 2, y + down);
      const text = await flame.locator("#tip").evaluate((tip) => (tip.hidden ? "" : tip.textContent));
      if (text !== "") {
        seen.set(text.split(":")[0], down);
      }
    }
    await page.mouse.move(5, 5);
    return seen;
  };
  const open = async (name) => {
    await explorerMenu(vscode)(name, "Open Profile…");
    await until(page, "the profile", async () => (await nav.frame.locator(".title").textContent()) === name);
  };

  await test("a key opens the flame graph from the Navigator", async () => {
    await explorerMenu(vscode)("security-off.folded", "Select Profile for Compare");
    await explorerMenu(vscode)("server.folded", "Open Profile…");
    nav = await navigatorPage(page);
    await nav.begins("main", "shop::serve");
    await nav.press("s");
    await nav.begins("main", "shop::serve");
    await nav.press("g");
    await page.locator(".tab.active", { hasText: "Flame Graph" }).waitFor();
    flame = await frameWith(page, "#canvas");
    await until(page, "boxes", async () => (await drawn()).boxes >= 9);
    await flame.locator("#canvas").focus();
    await page.mouse.move(5, 5);
  });

  await test("arrows move from frame to frame, and each is announced", async () => {
    await says(/^all: 1,000/);
    await key("ArrowDown");
    await says(/^main: 1,000/);
    await key("ArrowDown");
    await says(/^shop::serve: 990 .*\(99 %\), 40 .* its own/);
    await key("ArrowDown");
    await says(/^shop::render: 512/);
    await key("ArrowRight");
    await says(/^shop::parse: 390/);
  });

  await test("Enter zooms in, Escape out", async () => {
    await key("Enter");
    await flame.locator("#trail button", { hasText: "shop::parse 39 %" }).waitFor();
    await settled(flame);
    await key("Escape");
    await until(page, "the whole graph", async () => (await flame.locator("#trail button").count()) === 0);
  });

  await test("a label colours the graph, and keeps zoom and selection", async () => {
    await key("Enter");
    const trail = flame.locator("#trail button", { hasText: "shop::parse 39 %" });
    await trail.waitFor();
    await key("p");
    await nav.current("main", "shop::serve", "shop::parse");
    await nav.label("parsing");
    await flame.locator("#legend .tag", { hasText: "parsing" }).waitFor();
    await says(/^shop::parse: 390.*, label parsing$/);
    assert.equal(await trail.count(), 1);
    // Pressing the key again redraws the graph, and changes nothing.
    await drawnAfter(flame, () => nav.press("g"));
    await says(/^shop::parse: 390/);
    assert.equal(await trail.count(), 1);
    await key("Escape");
    await until(page, "the whole graph", async () => (await flame.locator("#trail button").count()) === 0);
    await vscode.command("Fulcrum: Navigator: Remove Label from Path");
    await until(page, "no label", async () => (await flame.locator("#legend .tag").count()) === 0);
    await flame.locator("#canvas").focus();
  });

  await test("slash searches and shows the matched share, each cost counted once", async () => {
    await key("/");
    await page.keyboard.type("string");
    const found = await until(page, "the share", async () => plain(await flame.locator("#found").textContent()));
    // push_back 150 and to_string 190 of 1,000.
    assert.match(found, /^2 functions · 34 % \(340/);
    await flame.locator("#text").press("Enter");
    await says(/^std::(string::push_back|to_string): /);
  });

  await test("a path merged over all its calling contexts: callers above, callees below", async () => {
    await flame.locator("#text").fill("");
    await vscode.command("Fulcrum: Focus on Navigator View");
    await nav.find("push_back");
    await nav.go("string::push_back");
    await nav.current("std::string::push_back");
    await nav.press("m");
    await page.locator(".tab.active", { hasText: "push_back" }).waitFor();
    await until(page, "callers and callees", async () => (await drawn()).boxes === 4);
    await flame.locator("#canvas").focus();
    await says(/^std::string::push_back: 150/);
    for (const caller of [/^shop::parse: 150/, /^shop::serve: 150/, /^main: 150/]) {
      await key("ArrowUp");
      await says(caller);
    }
  });

  await test("a search in a merged path says what it counts, and steps through both halves", async () => {
    await key("ArrowDown");
    await key("ArrowDown");
    await key("ArrowDown");
    await says(/^std::string::push_back: 150/);
    await key("/");
    await page.keyboard.type("shop");
    await until(page, "the share", async () =>
      /of the whole profile$/.test(await flame.locator("#found").textContent()),
    );
    await flame.locator("#text").press("Enter");
    await says(/^shop::parse: 150/);
    await key("n");
    await says(/^shop::serve: 150/);
    await key("/");
    await flame.locator("#text").fill("render");
    await flame.locator("#text").press("Enter");
    await says(/^No box of this picture has render in its name/);
    await flame.locator("#text").fill("");
  });

  await test("zooming on a caller keeps its place, however many callers appear", async () => {
    writeNarrowCallers(path.join(workspace.folder, "profiles", "callers.folded"));
    await open("callers.folded");
    await nav.find("hot");
    await nav.go("hot");
    await nav.current("hot");
    await nav.press("m");
    await page.locator(".tab.active", { hasText: "hot" }).waitFor();
    await until(page, "callers", async () => (await drawn()).boxes === 5);
    await flame.locator("#canvas").focus();
    await says(/^hot: 10,000/);
    await key("ArrowUp");
    await says(/^wide: 9,000/);
    const before = await column();
    await key("ArrowRight");
    await says(/^near: 1,000/);
    await key("Enter");
    await flame.locator("#trail button", { hasText: "near 10 %" }).waitFor();
    // They are above the screen.
    await until(page, "forty more callers", async () => (await flame.locator("#space").boundingBox()).height > 40 * 18);
    await settled(flame);
    const after = await column();
    assert.equal(after.get("near"), before.get("wide"));
    assert.equal(after.get("hot"), before.get("hot"));
    await key("Escape");
    await until(page, "the whole graph", async () => (await flame.locator("#trail button").count()) === 0);
    await settled(flame);
    assert.deepEqual(await column(), before);
  });

  await test("scrolling reaches the innermost of 2,500 calls", async () => {
    writeDeep(path.join(workspace.folder, "profiles", "deep.folded"));
    await open("deep.folded");
    await nav.press("g");
    await until(page, "boxes", async () => (await drawn()).boxes > 20);
    const bottom = () => flame.locator("#scroller").evaluate((it) => it.scrollTo(0, it.scrollHeight));
    await until(page, "the innermost", async () => {
      await bottom();
      await settled(flame);
      return (await column()).has("f2499");
    });
    // Pressing the key again changes nothing: every box keeps its place.
    await drawnAfter(flame, () => nav.press("g"));
    const seen = await column();
    assert.ok(seen.has("f2499"), "still scrolled to the innermost");
    // With less height, the selection stays visible.
    await flame.locator("#canvas").click({ position: { x: 200, y: seen.get("f2499") } });
    await says(/^f2499: 10/);
    await vscode.command("View: Toggle Panel Visibility");
    await until(page, "less height", async () => (await column()).size < seen.size);
    assert.ok((await column()).has("f2499"), "the innermost above the panel");
    await vscode.command("View: Toggle Panel Visibility");
    await until(page, "the full height", async () => (await column()).size === seen.size);
  });

  await test("closing the profile clears the flame graph, and opening another one draws it", async () => {
    await vscode.command("Fulcrum: Close Profile");
    await flame.locator("#nothing", { hasText: "closed" }).waitFor();
    await open("callers.folded");
    await until(page, "boxes", async () => (await drawn()).boxes >= 5);
    assert.equal(await flame.locator("#nothing").isVisible(), false);
  });

  await test("a comparison is drawn in blue and orange, with signs, and gives A, B and Δ", async () => {
    await explorerMenu(vscode)("security-on.folded", "Compare with Selected Profile");
    await until(page, "the comparison", async () => (await nav.frame.locator(".title").textContent())?.includes("−"));
    await nav.press("g");
    await until(page, "boxes", async () => (await drawn()).boxes > 30);
    await flame.locator("#canvas").focus();
    await says(/^all: 30,000/);
    await key("ArrowDown");
    await key("ArrowDown");
    await says(/^Servlet\.service: .* B 20,000, Δ \+10,000 \(\+50 %\)/);
    await flame.locator(".scale", { hasText: "less in A" }).waitFor();
    // Zoom and path at the same time, as a user would.
    await nav.find("doPrivileged");
    await nav.go("AccessController.doPrivileged");
    await nav.current("AccessController.doPrivileged");
    // Colours show what changed; the label is shown by its number.
    await nav.label("security");
    await flame.locator("#legend .tag", { hasText: /^#\d+security$/ }).waitFor();
  });

  await test("many nodes are drawn as at most one box per pixel and row", () =>
    drawsLittle({ vscode, page, workspace }, 7));

  await test("P removes threads from the path, and says that a thread is not a function", async () => {
    const frames = [{ name: "main" }, { name: "work" }];
    const thread = (name, weight) => ({ type: "sampled", name, unit: "none", samples: [[0, 1]], weights: [weight] });
    const profiles = [thread("first (1)", 7), thread("second (2)", 3)];
    const file = path.join(workspace.folder, "profiles", "threads.speedscope.json");
    writeFileSync(file, JSON.stringify({ shared: { frames }, profiles }));
    await explorerMenu(vscode)("threads.speedscope.json", "Open Profile…");
    await until(
      page,
      "the profile",
      async () => (await nav.frame.locator(".title").textContent()) === "threads.speedscope.json",
    );
    await flame.locator("#canvas").focus();
    await key("Home");
    await until(page, "the outermost box", async () => {
      await key("ArrowUp");
      return /^all: 10/.test(await spoken());
    });
    await key("ArrowDown");
    await says(/^first \(1\): 7/);
    await key("p");
    await says(/^first \(1\) is not a function/);
    await key("ArrowDown");
    await says(/^main: 7/);
    await key("ArrowDown");
    await says(/^work: 7/);
    await key("p");
    await nav.current("main", "work");
  });

  await test("profile, path and flame graph are restored after Reload Window", async () => {
    await vscode.command("Fulcrum: Focus on Navigator View");
    await nav.press("m");
    await page.locator(".tab.active", { hasText: "work" }).waitFor();
    await vscode.reload();
    await vscode.command("Fulcrum: Focus on Navigator View");
    nav = await navigatorPage(page);
    await nav.current("main", "work");
    assert.equal(await nav.frame.locator(".title").textContent(), "threads.speedscope.json");
    await page.locator(".tab", { hasText: "Flame Graph" }).click();
    await page.locator(".tab.active", { hasText: "work" }).waitFor();
    flame = await frameWith(page, "#canvas");
    // The path, with its two threads as callers.
    await flame.locator("#canvas").focus();
    await says(/^work: 10/);
  });
}

/** A campaign: a flame graph of a million nodes. */
export async function millionTests({ test, vscode, page, workspace }) {
  await test("a million nodes are drawn as at most one box per pixel and row", () =>
    drawsLittle({ vscode, page, workspace }, 9));
}

async function drawsLittle({ vscode, page, workspace }, fours) {
  writeLarge(path.join(workspace.folder, "profiles", "large.folded"), fours);
  await explorerMenu(vscode)("large.folded", "Open Profile…");
  const nav = await navigatorPage(page);
  await nav.begins("g0", "g1");
  await nav.press("g");
  await page.locator(".tab.active", { hasText: "Flame Graph" }).waitFor();
  const flame = await frameWith(page, "#canvas");
  const drawn = () => flame.locator("#canvas").evaluate((canvas) => Number(canvas.dataset.drawn));
  await until(page, "its boxes", async () => (await drawn()) > 500);
  await flame.locator("#canvas").focus();
  const times = [];
  for (const keys of [
    "ArrowDown ArrowDown ArrowDown Enter",
    "ArrowDown ArrowDown ArrowDown Enter",
    "Escape",
    "Escape",
  ]) {
    for (const name of keys.split(" ")) {
      await flame.locator("#canvas").press(name);
    }
    // The time of each frame of the animation.
    times.push(
      ...(await flame.evaluate(async () => {
        const canvas = document.querySelector("#canvas");
        const seen = [];
        for (let n = 0; n < 20; n += 1) {
          await new Promise(requestAnimationFrame);
          seen.push(Number(canvas.dataset.milliseconds));
        }
        return seen;
      })),
    );
  }
  // The times are printed, not checked, because they depend on the machine. How much is drawn does not.
  const [middle, slowest] = [median(times), Math.max(...times)];
  console.log(`a frame of the flame graph of ${4 ** fours} stacks: median ${middle} ms, slowest ${slowest} ms`);
  const { width } = await flame.locator("#canvas").boundingBox();
  const boxes = await drawn();
  assert.ok(boxes <= (1 + 3 * fours + 1) * width, `${boxes} boxes in ${width} pixels`);
}
