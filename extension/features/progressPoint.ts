/** Inserting and removing progress points, from the palette, the editor's menu and the line number's menu. */
import { access } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { type ProgressPointEditKind, requests } from "../core/protocol";
import { quoteShellWord } from "../core/shellWords";
import type { Engine } from "./engine";
import * as messages from "./messages";

const commands: Readonly<Record<string, ProgressPointEditKind>> = {
  "fulcrum.progressPoint.insert": "throughput",
  "fulcrum.progressPoint.latencyBegin": "latencyBegin",
  "fulcrum.progressPoint.latencyEnd": "latencyEnd",
  "fulcrum.progressPoint.remove": "remove",
};

/** What `editor/lineNumber/context` hands to a command. The line number is 1-based. */
interface LineNumberArgument {
  uri: vscode.Uri;
  lineNumber: number;
}

const flagShownKey = "fulcrum.headerFlagShown";

export function registerProgressPoints(engine: Engine, context: vscode.ExtensionContext): vscode.Disposable {
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([command, kind]) =>
      vscode.commands.registerCommand(command, async (argument?: unknown) => {
        if (await edit(engine, kind, argument)) {
          void tellFlag(context);
        }
      }),
    ),
    vscode.commands.registerCommand("fulcrum.copyHeaderFlag", () => copyFlag(context)),
  );
}

/** True when the file includes `fulcrum.h` since this edit. */
async function edit(engine: Engine, kind: ProgressPointEditKind, argument: unknown): Promise<boolean> {
  const place = await placeOf(argument);
  if (place === undefined) {
    await messages.info("Put the cursor on a line of a C or C++ file first.");
    return false;
  }
  const { document, position } = place;
  if (document.languageId !== "c" && document.languageId !== "cpp") {
    await messages.info(
      `Progress points can be inserted into C and C++ files; this file is ${document.languageId}. Fulcrum's header has the macros to type by hand.`,
    );
    return false;
  }
  try {
    const client = await engine.ready();
    const uri = document.uri.toString();
    const version = document.version;
    const answer = await engine.request(requests.ProgressPointEdit, {
      uri,
      position: client.code2ProtocolConverter.asPosition(position),
      kind,
    });
    const changes = await client.protocol2CodeConverter.asWorkspaceEdit(answer.edit);
    if (changes !== undefined) {
      if (document.version !== version || !(await vscode.workspace.applyEdit(changes))) {
        await messages.warn("The file changed meanwhile, so nothing was inserted. Try again.");
        return false;
      }
      await reveal(changes, document);
    }
    if (answer.message !== null) {
      await messages.info(answer.message);
    }
    return changes?.get(document.uri).some((change) => change.newText.includes('"fulcrum.h"')) ?? false;
  } catch (error) {
    await messages.showTrouble(engine.log, "Editing a progress point", error);
    return false;
  }
}

/** Once a workspace: the compiler must find the header, and only the extension knows where it is. */
async function tellFlag(context: vscode.ExtensionContext): Promise<void> {
  const flag = await headerFlag(context);
  if (flag === undefined || context.workspaceState.get<boolean>(flagShownKey, false)) {
    return;
  }
  await context.workspaceState.update(flagShownKey, true);
  const copy = "Copy Flag";
  if ((await messages.info(`The file includes fulcrum.h now. The compiler finds it by ${flag}.`, copy)) === copy) {
    await vscode.env.clipboard.writeText(flag);
  }
}

async function copyFlag(context: vscode.ExtensionContext): Promise<void> {
  const flag = await headerFlag(context);
  if (flag === undefined) {
    await messages.warn("This build of the extension has no fulcrum.h. Take it from engine/include of the repository.");
    return;
  }
  await vscode.env.clipboard.writeText(flag);
  vscode.window.setStatusBarMessage(`Copied ${flag}`, 4000);
}

/** The packaged header, or the developer's. */
async function headerFlag(context: vscode.ExtensionContext): Promise<string | undefined> {
  for (const folder of ["bin/include", "engine/include"].map((folder) => context.asAbsolutePath(folder))) {
    try {
      await access(path.join(folder, "fulcrum.h"));
      return quoteShellWord(`-I${folder}`);
    } catch {
      // The next one, then.
    }
  }
  return undefined;
}

async function placeOf(
  argument: unknown,
): Promise<{ document: vscode.TextDocument; position: vscode.Position } | undefined> {
  if (isLineNumberArgument(argument)) {
    const document = await vscode.workspace.openTextDocument(argument.uri);
    const line = document.lineAt(Math.min(Math.max(argument.lineNumber, 1), document.lineCount) - 1);
    return { document, position: new vscode.Position(line.lineNumber, line.firstNonWhitespaceCharacterIndex) };
  }
  const editor = vscode.window.activeTextEditor;
  return editor === undefined ? undefined : { document: editor.document, position: editor.selection.active };
}

/** The insertion may lie below the visible part; the include at the top is no news. */
async function reveal(changes: vscode.WorkspaceEdit, document: vscode.TextDocument): Promise<void> {
  const editor = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
  const last = changes
    .get(document.uri)
    .map((change) => change.range)
    .sort((a, b) => b.start.compareTo(a.start))[0];
  if (editor !== undefined && last !== undefined) {
    editor.revealRange(last, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}

function isLineNumberArgument(argument: unknown): argument is LineNumberArgument {
  const candidate = argument as Partial<LineNumberArgument> | null | undefined;
  return candidate?.uri instanceof vscode.Uri && typeof candidate.lineNumber === "number";
}
