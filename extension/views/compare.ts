/** The page of two compared causal profiles: an empty place that `webview/causal/compare.tsx` fills. No `vscode` in here. */
import { type PageAssets, pageHtml } from "./page";

export function compareHtml(assets: PageAssets): string {
  return pageHtml("Predicted and Actual", `<div id="page"></div>`, assets);
}
