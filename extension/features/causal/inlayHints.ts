/** Inlay hints: the engine always offers them, this setting decides whether they are asked for. */
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import type { Engine } from "../editor/engine";
import type { CausalResults } from "./causalResults";

export const inlayHintMiddleware: Middleware = {
  provideInlayHints: (document, range, token, next) => {
    const wanted = vscode.workspace.getConfiguration("fulcrum", document).get<boolean>("inlayHints", false);
    return wanted ? next(document, range, token) : [];
  },
};

/** Asks the editor to ask again when the setting or the results change. */
export function refreshInlayHints(engine: Engine, results: CausalResults): vscode.Disposable {
  const refresh = () => {
    const feature = engine.running?.getFeature("textDocument/inlayHint");
    for (const document of vscode.workspace.textDocuments) {
      feature?.getProvider(document)?.onDidChangeInlayHints.fire();
    }
  };
  return vscode.Disposable.from(
    results.onDidChangeResults(refresh),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("fulcrum.inlayHints")) {
        refresh();
      }
    }),
  );
}
