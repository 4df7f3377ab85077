/** Inlay hints: the engine always offers them, this setting decides whether they are asked for. */
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import type { Engine } from "../editor/engine";
import type { Session } from "./session";

export const inlayHintMiddleware: Middleware = {
  provideInlayHints: (document, range, token, next) => {
    const wanted = vscode.workspace.getConfiguration("fulcrum", document).get<boolean>("inlayHints", false);
    return wanted ? next(document, range, token) : [];
  },
};

/** Asks the editor to ask again when the setting or the results change. */
export function refreshInlayHints(engine: Engine, session: Session): vscode.Disposable {
  const refresh = () => {
    const feature = engine.running?.getFeature("textDocument/inlayHint");
    for (const document of vscode.workspace.textDocuments) {
      feature?.getProvider(document)?.onDidChangeInlayHints.fire();
    }
  };
  return vscode.Disposable.from(
    session.onDidChangeResults(refresh),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("fulcrum.inlayHints")) {
        refresh();
      }
    }),
  );
}
