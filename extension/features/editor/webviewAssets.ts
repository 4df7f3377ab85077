/** What a webview's page loads: its script, and its style on top of the common one. */
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { PageAssets } from "../../views/page";

/** `name.js` is in `dist/webview`, `style.css` in `media`. */
export function pageAssets(
  webview: vscode.Webview,
  extensionUri: vscode.Uri,
  name: string,
  style: string = name,
): PageAssets {
  const uri = (...parts: string[]) => webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, ...parts)).toString();
  return {
    nonce: randomUUID(),
    cspSource: webview.cspSource,
    script: uri("dist", "webview", `${name}.js`),
    styles: [uri("media", "common.css"), uri("media", `${style}.css`)],
  };
}

export function pageOptions(extensionUri: vscode.Uri): vscode.WebviewOptions {
  const roots = [vscode.Uri.joinPath(extensionUri, "dist", "webview"), vscode.Uri.joinPath(extensionUri, "media")];
  return { enableScripts: true, localResourceRoots: roots };
}
