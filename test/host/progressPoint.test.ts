import assert from "node:assert/strict";
import * as vscode from "vscode";
import { fulcrum, inWorkspace, show, test, until } from "./harness";

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

test("the line number's menu inserts a progress point into the loop, with the include once", async () => {
  const editor = await scratch("insert.cpp");
  const uri = editor.document.uri;
  await vscode.commands.executeCommand("fulcrum.progressPoint.insert", { uri, lineNumber: 5 });
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

test("latency needs a begin and an end", async () => {
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

test("the code action is offered in a loop and inserts the same", async () => {
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
