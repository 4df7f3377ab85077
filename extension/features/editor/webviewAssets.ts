/** Loads pages into webviews: their scripts and styles, the policy for what they may load, and the link to them. */
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { PageLink, type Question } from "../../core/page";
import type { PageAssets } from "../../views/page";

/** A page. */
export interface PageFile {
  /** `dist/webview/SCRIPT.js`. */
  script: string;
  /** `media/STYLE.css`, on top of the common style; absent: it has the script's name. */
  style?: string;
  html(assets: PageAssets): string;
}

/** What happens to a page's messages. */
interface PageHandler<From> {
  answer(message: Question<From>): Promise<void>;
  failed(type: string, error: unknown): void;
}

/** Loads a page into a webview, and gives the link to it. */
export function loadPage<To, From extends { type: string }>(
  webview: vscode.Webview,
  extensionUri: vscode.Uri,
  file: PageFile,
  handler: PageHandler<From>,
): PageLink<To, From> {
  const page = new PageLink<To, From>(
    webview,
    (message) => handler.answer(message),
    (type, error) => handler.failed(type, error),
  );
  const roots = [vscode.Uri.joinPath(extensionUri, "dist", "webview"), vscode.Uri.joinPath(extensionUri, "media")];
  webview.options = { enableScripts: true, localResourceRoots: roots };
  webview.html = file.html(pageAssets(webview, extensionUri, file));
  return page;
}

function pageAssets(
  webview: vscode.Webview,
  extensionUri: vscode.Uri,
  { script, style = script }: PageFile,
): PageAssets {
  const uri = (...parts: string[]) => webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, ...parts)).toString();
  return {
    nonce: randomUUID(),
    cspSource: webview.cspSource,
    script: uri("dist", "webview", `${script}.js`),
    styles: [uri("media", "common.css"), uri("media", `${style}.css`)],
  };
}
