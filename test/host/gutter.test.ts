import assert from "node:assert/strict";
import * as vscode from "vscode";
import { themeColours } from "../../extension/core/themeColours";
import { fulcrum, inWorkspace, show, test, until } from "./harness";

const source = inWorkspace("two-threads.cpp");

async function opened(): Promise<vscode.TextEditor> {
  await vscode.commands.executeCommand("fulcrum.causal.open", inWorkspace("two-threads.coz"));
  return show("two-threads.cpp");
}

async function shapes(): Promise<Record<number, string>> {
  const api = await fulcrum();
  const shown = api.currentDecorations(source)?.shapes ?? [];
  return Object.fromEntries(shown.map((mark) => [mark.line + 1, mark.stale ? `${mark.kind} stale` : mark.kind]));
}

async function settle(what: string, check: (shapes: Record<number, string>) => boolean): Promise<void> {
  try {
    await until(what, async () => check(await shapes()));
  } catch (error) {
    throw new Error(`${error} Shown: ${JSON.stringify(await shapes())}`);
  }
}

async function configure(name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration("fulcrum").update(name, value, vscode.ConfigurationTarget.Workspace);
}

test("the longer loop has a gain, the shorter is flat, both with text", async () => {
  const api = await fulcrum();
  await opened();
  await settle("two shapes", (shown) => /^gain/.test(shown[14] ?? "") && shown[20] === "flat");
  const texts = api.currentDecorations(source)?.texts ?? [];
  assert.deepEqual(
    texts.map((text) => [text.line + 1, text.text]),
    [
      [14, "+4.7\u00a0% if 2× faster"],
      [20, "no effect"],
    ],
  );
  assert.deepEqual(api.currentDecorations(source)?.ruler, [{ line: 13, tone: "gain" }]);
});

test("results move with their lines", async () => {
  const editor = await opened();
  await settle("two shapes", (shown) => shown[20] === "flat");
  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "// one\n// two\n"));
  await settle("both two lines lower", (shown) => /^gain/.test(shown[16] ?? "") && shown[22] === "flat");
  await vscode.commands.executeCommand("undo");
  await settle("both back", (shown) => /^gain/.test(shown[14] ?? "") && shown[20] === "flat");
});

test("the hover has the plot as an image and the numbers as text", async () => {
  await opened();
  const hovers = await until("a hover", async () => {
    const found = await vscode.commands.executeCommand<vscode.Hover[]>(
      "vscode.executeHoverProvider",
      source,
      new vscode.Position(13, 6),
    );
    return found.length > 0 && found;
  });
  const text = hovers
    .flatMap((hover) => hover.contents.map((part) => (typeof part === "string" ? part : part.value)))
    .join("\n");
  const [, data = ""] = /data:image\/svg\+xml;base64,([A-Za-z0-9+/=]+)/.exec(text) ?? [];
  const svg = Buffer.from(data, "base64").toString("utf8");
  // In the theme's colours. The engine draws with others.
  assert.ok(svg.includes(`"${themeColours["fulcrum.plotCurve"].dark}"`), svg);
  assert.doesNotMatch(svg, /#888888|#4a90d9/);
  assert.match(text, /\+4\.7\u00a0% if 2× faster/);
});

test("inlay hints appear only if they are enabled", async () => {
  await opened();
  const hints = () =>
    vscode.commands.executeCommand<vscode.InlayHint[]>(
      "vscode.executeInlayHintProvider",
      source,
      new vscode.Range(0, 0, 32, 0),
    );
  assert.deepEqual(await hints(), []);
  await configure("inlayHints", true);
  try {
    const shown = await until("a hint", async () => {
      const found = await hints();
      return found.length > 0 && found;
    });
    assert.ok(shown.some((hint) => hint.position.line === 13));
  } finally {
    await configure("inlayHints", undefined);
  }
});

test("settings choose where shapes and text appear", async () => {
  const api = await fulcrum();
  await opened();
  await settle("two shapes", (shown) => shown[20] === "flat");
  await configure("gutter", "off");
  await configure("inlineText", "current");
  try {
    await settle("no shapes", (shown) => Object.keys(shown).length === 0);
    const editor = await show("two-threads.cpp");
    editor.selection = new vscode.Selection(19, 0, 19, 0);
    await until("text at the current line", () => {
      const texts = api.currentDecorations(source)?.texts ?? [];
      return texts.length === 1 && texts[0]?.line === 19;
    });
  } finally {
    await configure("gutter", undefined);
    await configure("inlineText", undefined);
  }
  await settle("the shapes again", (shown) => shown[20] === "flat");
});
