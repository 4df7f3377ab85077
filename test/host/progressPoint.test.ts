import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import * as vscode from "vscode";
import { fulcrum, inWorkspace, Messages, show, test, until } from "./harness";

const program = `#include <cstdio>

int main() {
  for (int i = 0; i < 10; i++) {
    std::printf("%d\\n", i);
  }
}
`;

async function scratch(name: string): Promise<vscode.TextEditor> {
  await fulcrum();
  await vscode.workspace.fs.writeFile(inWorkspace(name), Buffer.from(program));
  return show(name);
}

function count(text: string, what: string): number {
  return text.split(what).length - 1;
}

test("the line number's menu inserts a progress point into the loop, and the include once", async () => {
  const editor = await scratch("insert.cpp");
  const uri = editor.document.uri;
  const header = inWorkspace("fulcrum.h").fsPath;
  rmSync(header, { force: true });
  const messages = Messages.mark(await fulcrum());
  await vscode.commands.executeCommand("fulcrum.progressPoint.insert", { uri, lineNumber: 5 });
  await messages.next(/^fulcrum\.h was put beside insert\.cpp/);
  assert.match(readFileSync(header, "utf8"), /#define FULCRUM_PROGRESS /);
  const text = editor.document.getText();
  assert.equal(count(text, '#include "fulcrum.h"'), 1);
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.includes("FULCRUM_PROGRESS"));
  assert.match(lines[at] ?? "", /^ {4}FULCRUM_PROGRESS/);
  assert.equal(lines[at + 1], "  }");
  assert.match(lines[at - 1] ?? "", /std::printf/);

  await vscode.commands.executeCommand("fulcrum.progressPoint.remove", { uri, lineNumber: at + 1 });
  assert.equal(count(editor.document.getText(), "FULCRUM_PROGRESS"), 0);
});

test("latency needs a begin point and an end point", async () => {
  const editor = await scratch("latency.cpp");
  const uri = editor.document.uri;
  await vscode.commands.executeCommand("fulcrum.progressPoint.latencyBegin", { uri, lineNumber: 5 });
  const begun = editor.document
    .getText()
    .split("\n")
    .findIndex((line) => line.includes("FULCRUM_BEGIN"));
  assert.ok(begun > 0, editor.document.getText());
  const printf = editor.document
    .getText()
    .split("\n")
    .findIndex((line) => line.includes("std::printf"));
  await vscode.commands.executeCommand("fulcrum.progressPoint.latencyEnd", { uri, lineNumber: printf + 1 });
  const text = editor.document.getText();
  assert.equal(count(text, "FULCRUM_BEGIN("), 1);
  assert.equal(count(text, "FULCRUM_END("), 1);
  assert.equal(count(text, '#include "fulcrum.h"'), 1);
});

test("the code action is offered in a loop, and inserts the same text", async () => {
  const editor = await scratch("action.cpp");
  const uri = editor.document.uri;
  const range = new vscode.Range(4, 6, 4, 6);
  const action = await until("the code action", async () => {
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      "vscode.executeCodeActionProvider",
      uri,
      range,
    );
    return actions.find((candidate) => /insert.*progress point/i.test(candidate.title));
  });
  assert.ok(action.edit, "the action carries its edit");
  await vscode.workspace.applyEdit(action.edit);
  assert.equal(count(editor.document.getText(), "FULCRUM_PROGRESS"), 1);
  assert.equal(count(editor.document.getText(), '#include "fulcrum.h"'), 1);
});

test("in Rust, the crate is added where cargo finds it, and the program builds offline", async () => {
  await fulcrum();
  const write = (name: string, text: string) =>
    vscode.workspace.fs.writeFile(inWorkspace(`shop/${name}`), Buffer.from(text));
  await write("Cargo.toml", '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n\n[workspace]\n');
  await write("src/main.rs", 'fn main() {\n    for n in 0..3 {\n        println!("{n}")\n    }\n}\n');
  const editor = await show("shop/src/main.rs");
  const messages = Messages.mark(await fulcrum());
  await vscode.commands.executeCommand("fulcrum.progressPoint.insert", { uri: editor.document.uri, lineNumber: 3 });
  await messages.next(/^The crate fulcrum-progress was put beside/);
  assert.match(editor.document.getText(), /\("\{n\}"\);\n {8}fulcrum_progress::progress!\(\);\n {4}\}/);
  const manifest = readFileSync(inWorkspace("shop/Cargo.toml").fsPath, "utf8");
  assert.match(manifest, /\[dependencies\]\nfulcrum-progress = \{ path = "fulcrum-progress" \}/);
  await editor.document.save();
  const cwd = inWorkspace("shop").fsPath;
  const built = execFileSync("cargo", ["run", "--offline", "--quiet"], { cwd, encoding: "utf8" });
  assert.equal(built, "0\n1\n2\n");

  // A second point needs nothing else.
  await vscode.commands.executeCommand("fulcrum.progressPoint.latencyBegin", {
    uri: editor.document.uri,
    lineNumber: 2,
  });
  assert.equal(readFileSync(inWorkspace("shop/Cargo.toml").fsPath, "utf8"), manifest);
  assert.match(editor.document.getText(), /fulcrum_progress::begin!\("main"\);/);
});

test("a line counts as progress without a change to the source, and moves with its code", async () => {
  const editor = await scratch("toggle.cpp");
  const { document } = editor;
  const uri = document.uri;
  const lenses = async () => {
    const all = await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", uri);
    return all.map((lens) => lens.range.start.line);
  };
  const before = document.getText();
  await vscode.commands.executeCommand("fulcrum.progressPoint.toggleHere", { uri, lineNumber: 5 });
  assert.ok((await lenses()).includes(4));
  assert.equal(document.getText(), before);
  await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "// one\n// two\n"));
  const moved = await lenses();
  assert.ok(moved.includes(6) && !moved.includes(4), String(moved));
  await vscode.commands.executeCommand("fulcrum.progressPoint.toggleHere", { uri, lineNumber: 7 });
  assert.deepEqual(await lenses(), []);
});
