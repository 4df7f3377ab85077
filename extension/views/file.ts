/** The tab of a file that opened by a double click: its script fills it. No `vscode` in here. */
import { type PageAssets, pageHtml } from "./page";

export function fileHtml(assets: PageAssets): string {
  return pageHtml("Fulcrum", `<main id="page" aria-label="Profile"></main>`, assets);
}
