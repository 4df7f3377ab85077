/** Inserting and removing progress points, from the palette, the editor's menu and the line number's menu. */
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { progressLanguages } from "../../core/causal/progressLines";
import { troubleOf } from "../../core/engine/errors";
import { type ProgressPointEditKind, requests } from "../../core/engine/protocol";
import { quoteShellWord } from "../../core/text/shellWords";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { prepareBuild, shipped } from "./progressFiles";

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

/** For code actions, whose edits the editor makes itself: see {@link prepareAfterActions}. */
const prepareCommand = "fulcrum.progressPoint.prepare";

export function registerProgressPoints(engine: Engine, context: vscode.ExtensionContext): vscode.Disposable {
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([command, kind]) =>
      vscode.commands.registerCommand(command, async (argument?: unknown) => {
        const document = await edit(engine, kind, argument);
        if (document !== undefined && kind !== "remove") {
          await prepare(engine, context, document.uri);
        }
      }),
    ),
    vscode.commands.registerCommand(prepareCommand, (uri: vscode.Uri) => prepare(engine, context, uri)),
    vscode.commands.registerCommand("fulcrum.copyHeaderFlag", () => copyFlag(context)),
  );
}

/** After an insertion from the quick fix menu the build must work, too. */
export const prepareAfterActions: Middleware = {
  provideCodeActions: async (document, range, context, token, next) => {
    const actions = await next(document, range, context, token);
    for (const action of actions ?? []) {
      if ("edit" in action && /^(Insert Progress Point|Mark as Latency)/.test(action.title)) {
        action.command = { command: prepareCommand, title: "Prepare the Build", arguments: [document.uri] };
      }
    }
    const insert = actions?.find((action) => action.title === "Insert Progress Point");
    return insert === undefined ? actions : [...(actions ?? []), countAction(document, range, insert)];
  },
};

/** Beside the insertion, whatever it is offered for: the same without a change of the source. */
function countAction(
  document: vscode.TextDocument,
  range: vscode.Range,
  beside: vscode.Command | vscode.CodeAction,
): vscode.CodeAction {
  const title = "Count This Line as Progress, Source Unchanged";
  const kind = "kind" in beside ? beside.kind : undefined;
  const action = new vscode.CodeAction(title, kind);
  const place = { uri: document.uri, lineNumber: range.start.line + 1 };
  action.command = { command: "fulcrum.progressPoint.toggleHere", title, arguments: [place] };
  return action;
}

/** Puts the header or the crate where the build finds it. */
async function prepare(engine: Engine, context: vscode.ExtensionContext, uri: vscode.Uri): Promise<void> {
  try {
    const from = await shipped(context);
    const document = await vscode.workspace.openTextDocument(uri);
    if (from === undefined || uri.scheme !== "file") {
      return;
    }
    await prepareBuild(document, from);
  } catch (error) {
    await messages.showTrouble(engine.log, "Preparing the build for the progress point", {
      message: `The progress point is in the source, but the header or crate that it needs could not be set up (${troubleOf(error).message.replace(/\.$/, "")})`,
      data: {
        blame: "environment",
        advice: "For C and C++, run Fulcrum: Copy Compiler Flag for fulcrum.h and add the flag to your build.",
      },
    });
  }
}

/** The document that was edited; `undefined` when nothing was; then a message says why. */
async function edit(
  engine: Engine,
  kind: ProgressPointEditKind,
  argument: unknown,
): Promise<vscode.TextDocument | undefined> {
  const place = await placeOf(argument);
  if (place === undefined) {
    await messages.info("Put the cursor on a line of a C, C++ or Rust file first.");
    return undefined;
  }
  const { document, position } = place;
  if (!progressLanguages.includes(document.languageId)) {
    await messages.info(
      `Progress points can be inserted into C, C++ and Rust files; this file is ${document.languageId}. In other languages a line can be counted as it is: Toggle Progress Point Here.`,
    );
    return undefined;
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
        return undefined;
      }
      await reveal(changes, document);
    }
    if (answer.message !== null) {
      await messages.info(answer.message);
    }
    return changes === undefined ? undefined : document;
  } catch (error) {
    await messages.showTrouble(engine.log, "Editing a progress point", error);
    return undefined;
  }
}

async function copyFlag(context: vscode.ExtensionContext): Promise<void> {
  const flag = await headerFlag(context);
  if (flag === undefined) {
    await messages.warn("This build of the extension has no fulcrum.h. Take it from engine/include of the repository.");
    return;
  }
  await vscode.env.clipboard.writeText(flag);
  messages.showStatus(`Copied ${flag}`);
}

async function headerFlag(context: vscode.ExtensionContext): Promise<string | undefined> {
  const from = await shipped(context);
  return from && quoteShellWord(`-I${from.include}`);
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
