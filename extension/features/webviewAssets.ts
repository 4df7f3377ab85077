/** What a webview's page loads: its bundled script and its style. */
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { PageAssets } from "../views/page";

/** `name.js` is in `dist/webview`, `name.css` in `media`. */
export function pageAssets(webview: vscode.Webview, extensionUri: vscode.Uri, name: string): PageAssets {
  const uri = (...parts: string[]) => webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, ...parts)).toString();
  return {
    nonce: randomUUID(),
    cspSource: webview.cspSource,
    script: uri("dist", "webview", `${name}.js`),
    style: uri("media", `${name}.css`),
  };
}

export function pageOptions(extensionUri: vscode.Uri): vscode.WebviewOptions {
  const roots = [vscode.Uri.joinPath(extensionUri, "dist", "webview"), vscode.Uri.joinPath(extensionUri, "media")];
  return { enableScripts: true, localResourceRoots: roots };
}
