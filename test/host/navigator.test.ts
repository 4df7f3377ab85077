import assert from "node:assert/strict";
import path from "node:path";
import * as vscode from "vscode";
import { begin, fulcrum, inWorkspace, Messages, show, test, until } from "./harness";

const profile = (name: string) => inWorkspace(`profiles/${name}`);
const plain = (text: string | undefined) => (text ?? "").replaceAll("\u00a0", " ");

async function open(name: string) {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.profile.open", profile(name));
  const model = await until(name, () => {
    const shown = api.navigator();
    return shown?.title === path.basename(name) && shown.lists[0] !== undefined && shown;
  });
  return { api, model };
}

const run = (command: string, ...args: unknown[]) =>
  vscode.commands.executeCommand(`fulcrum.navigator.${command}`, ...args);

async function goTo(name: string) {
  const api = await fulcrum();
  await run("find", name);
  const rows = await api.navigatorRows("suggestion", 50);
  assert.ok(
    rows.some((row) => row.title.startsWith(name)),
    `${name} among ${rows.map((row) => row.text)}`,
  );
  await run("selectPath", [name]);
}

test("navigator: a folded profile opens, and HighBase ranks by base", async () => {
  const { api, model } = await open("figure2.folded");
  assert.equal(plain(model.denominator), "of 100 samples");
  assert.deepEqual(
    (await api.navigatorRows("suggestion", 10)).map((row) => row.text),
    // Their cum: 100, 97, 47, 42, 40.
    ["a", "c", "b", "e", "d"],
  );
  await run("toggleSuggester");
  assert.equal(api.navigator()?.suggester, "HighBase");
  assert.deepEqual(
    (await api.navigatorRows("suggestion", 10)).map((row) => [row.text, plain(row.base)]),
    [
      ["e", "42 %"],
      ["d", "40 %"],
      ["c", "15 %"],
      ["b", "2 %"],
      ["a", "1 %"],
    ],
  );
});

test("navigator: Figure 2 by commands: [c], extended, zoomed to [a b c d], trimmed, and back", async () => {
  const { api } = await open("figure2.folded");
  const shown = () => api.navigator()?.current?.frames.map((frame) => frame.name);
  await goTo("c");
  assert.deepEqual([api.navigator()?.current?.base.cost, api.navigator()?.current?.cum.cost], ["15", "97"]);
  await goTo("d");
  await run("extendTop");
  assert.deepEqual(shown(), ["c", "d"]);
  await run("toggleZoom");
  assert.deepEqual(
    (await api.navigatorRows("extendTop", 10)).map((row) => row.text),
    ["a → b"],
  );
  await run("extendTop");
  assert.deepEqual(shown(), ["a", "b", "c", "d"]);
  await run("trimTop");
  assert.deepEqual(shown(), ["b", "c", "d"]);
  await run("trimBottom");
  assert.deepEqual(shown(), ["b", "c"]);
  await run("back");
  assert.deepEqual(shown(), ["b", "c", "d"]);
  await run("forward");
  assert.deepEqual(shown(), ["b", "c"]);
  await run("toggleZoom");
});

test("navigator: labels, their overlap and coverage, which are kept when the profile is reopened", async () => {
  const { api } = await open("figure2.folded");
  await run("selectPath", ["a", "b", "c", "d"]);
  await run("label", "left");
  assert.match(plain(api.navigator()?.coverage?.text), /^48 % of 100/);
  await run("selectPath", ["a", "c", "e"]);
  const [overlap] = api.navigator()?.current?.overlaps ?? [];
  assert.deepEqual([overlap?.label, plain(overlap?.share)], ["left", "1.89 %"]);
  await run("close");
  assert.equal(api.navigator(), undefined);
  const again = await open("figure2.folded");
  assert.equal(again.model.coverage?.segments[0]?.label, "left");
  await run("report");
  const report = vscode.window.activeTextEditor?.document;
  assert.equal(report?.languageId, "markdown");
  assert.match(report?.getText() ?? "", /left[\s\S]*48/);
  await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  await run("goToLabel", "left");
  await run("unlabel");
  assert.equal(api.navigator()?.coverage, null);
});

test("navigator: keys faster than the answers apply to the path that the earlier keys lead to", async () => {
  const { api } = await open("figure2.folded");
  await run("selectPath", ["c"]);
  const shown = () => api.navigator()?.current?.frames.map((frame) => frame.name);
  const keys = ["extendTop", "extendBottom", "trimTop", "extendTop", "trimBottom"];
  for (const key of keys) {
    await run(key);
  }
  const slowly = shown();
  await run("selectPath", ["c"]);
  await Promise.all([...keys.map((key) => run(key)), run("label", "fast")]);
  assert.deepEqual(shown(), slowly);
  assert.deepEqual(
    api.navigator()?.current?.labels.map((label) => label.name),
    ["fast"],
  );
  await run("unlabel");
});

test("navigator: two profiles compared, the difference as the denominator", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.profile.select", profile("security-off.folded"));
  await vscode.commands.executeCommand("fulcrum.profile.withSelected", profile("security-on.folded"));
  const model = await until("the comparison", () => api.navigator()?.comparison === true && api.navigator());
  assert.match(plain(model.denominator), /^of 10,000/);
  await run("toggleSuggester");
  const [first] = await api.navigatorRows("suggestion", 1);
  assert.equal(first?.text, "SecurityManager.getClassContext");
  assert.deepEqual(first?.sides, { a: "985", b: "0", delta: "+985" });
});

test("navigator: a file that is not a profile is refused by name, and the open profile stays open", async () => {
  const { api } = await open("figure2.folded");
  const messages = Messages.mark(api);
  begin("fulcrum.profile.open", inWorkspace("two-threads.cpp"));
  assert.match(await messages.next(/two-threads\.cpp/), /two-threads\.cpp/);
  await until("the profile from before", () => api.navigator()?.title === "figure2.folded");
});

test("navigator: a causal profile opens in its own view", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.profile.open", inWorkspace("two-threads.coz"));
  assert.equal(api.summary()?.path, inWorkspace("two-threads.coz").fsPath);
});

test("hot lines: bars stay on their lines during typing, in any language", async () => {
  const folder = inWorkspace("profiles/typed");
  const files = vscode.workspace.fs;
  const write = (name: string, text: string) => files.writeFile(vscode.Uri.joinPath(folder, name), Buffer.from(text));
  await write("app.py", "def helper():\n    a = 1\n    b = 2\n\nhelper()\n");
  await write("app.folded", "main;helper (app.py:2) 30\nmain;helper (app.py:3) 10\n");
  await open("typed/app.folded");
  const editor = await show("profiles/typed/app.py");
  const api = await fulcrum();
  const bars = () => (api.hotLines(editor.document.uri)?.shapes ?? []).map(({ line, stale }) => [line, stale]);
  const settle = (what: string, expected: [number, boolean][]) =>
    until(what, () => JSON.stringify(bars()) === JSON.stringify(expected));
  await settle("bars", [
    [1, false],
    [2, false],
  ]);
  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "# one\n# two\n"));
  // The editor moves them at once. The engine, which is asked a moment later, must not move them back.
  await until("an answer about the changed text", () => api.marksSettled());
  assert.deepEqual(bars(), [
    [3, false],
    [4, false],
  ]);
  await editor.edit((edit) => edit.insert(new vscode.Position(3, 4), "other = "));
  await settle("a stale bar at the line that was changed", [
    [3, true],
    [4, false],
  ]);
  // The editor saves automatically after a while. If the file is gone by then, its text stays unsaved, and the next command
  // that closes editors asks what to do with it.
  assert.ok(await editor.document.save(), "it is saved");
  await vscode.window.showTextDocument(editor.document);
  await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  await run("close");
  await files.delete(folder, { recursive: true });
});

test("hot lines: bars where functions are declared, never beside causal results", async () => {
  const { api } = await open("server.folded");
  const { document } = await show("profiles/server.cpp");
  const hot = await until("hot lines", () => {
    const shown = api.hotLines(document.uri);
    return shown !== undefined && shown.shapes.length > 0 && shown;
  });
  const lineOf = (text: string) =>
    document
      .getText()
      .split("\n")
      .findIndex((line) => line.includes(text));
  assert.deepEqual(hot.shapes.find((mark) => mark.line === lineOf("std::string parse("))?.kind, "hot4");
  assert.match(api.statusText() ?? "", /Hot lines: server\.folded/);
  assert.deepEqual(api.currentDecorations(document.uri)?.shapes ?? [], []);
  await vscode.commands.executeCommand("fulcrum.causal.open", inWorkspace("two-threads.coz"));
  await until("no hot lines", () => api.hotLines(document.uri)?.shapes.length === 0);
  await vscode.commands.executeCommand("fulcrum.gutter.switch");
  await until("hot lines again", () => (api.hotLines(document.uri)?.shapes.length ?? 0) > 0);
  await vscode.commands.executeCommand("fulcrum.gutter.switch");
  await run("close");
});

test("navigator: a double click opens a profile; one with an unspecific name opens by command", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("vscode.open", profile("server.folded"));
  await until("the profile", () => api.navigator()?.title === "server.folded");
  const results = inWorkspace("results.txt");
  await vscode.workspace.fs.copy(profile("figure2.folded"), results, { overwrite: true });
  await vscode.commands.executeCommand("vscode.open", results);
  assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, results.fsPath);
  await vscode.commands.executeCommand("vscode.openWith", results, "fulcrum.fileAsked");
  await until("the other profile", () => api.navigator()?.title === "results.txt");
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
});
