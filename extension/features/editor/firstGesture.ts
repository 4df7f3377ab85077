/** The engine starts when the user needs it: not when a window or a source file is opened. */
import * as vscode from "vscode";
import { type Engine, filterLanguage } from "./engine";

/** Files for which the engine has quick fixes. */
const languages = ["c", "cpp", "rust"];

interface View {
  readonly visible: boolean;
  readonly onDidChangeVisibility: vscode.Event<unknown>;
}

/** Resolves once a file is open that may have results, or the view that lists them is visible. */
export function firstLook(ranking: View, subscriptions: vscode.Disposable[]): Promise<void> {
  const isFile = ({ document }: vscode.TextEditor) => document.uri.scheme === "file";
  return new Promise((resolve) => {
    const look = () => {
      if (ranking.visible || vscode.window.visibleTextEditors.some(isFile)) {
        listening.dispose();
        resolve();
      }
    };
    const listening = vscode.Disposable.from(
      vscode.window.onDidChangeVisibleTextEditors(look),
      ranking.onDidChangeVisibility(look),
    );
    subscriptions.push(listening);
    look();
  });
}

/**
 * Quick fixes that are asked for start the engine, whose client answers from then on; those that the editor asks for while the
 * cursor moves do not. All help with a filter comes from the engine, so that opening one starts it.
 */
export function startOnGesture(engine: Engine): vscode.Disposable {
  const start = (document: vscode.TextDocument) => {
    if (document.languageId === filterLanguage && engine.state === "idle") {
      engine.ready().catch((error) => engine.log.warn(`The engine could not be started: ${error.message ?? error}`));
    }
  };
  vscode.workspace.textDocuments.forEach(start);
  const files = languages.map((language) => ({ scheme: "file", language }));
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(start),
    vscode.languages.registerCodeActionsProvider(files, {
      provideCodeActions: (document, range, context, token) => firstActions(engine, document, range, context, token),
    }),
  );
}

async function firstActions(
  engine: Engine,
  document: vscode.TextDocument,
  range: vscode.Range,
  context: vscode.CodeActionContext,
  token: vscode.CancellationToken,
): Promise<(vscode.Command | vscode.CodeAction)[]> {
  if (engine.state !== "idle" || context.triggerKind !== vscode.CodeActionTriggerKind.Invoke) {
    return [];
  }
  const client = await engine.ready();
  const provider = client.getFeature("textDocument/codeAction").getProvider(document);
  return (await provider?.provideCodeActions(document, range, context, token)) ?? [];
}
