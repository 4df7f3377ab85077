/** The Navigator's page: empty places that `webview/navigator.ts` fills. No `vscode` in here. */
import { type PageAssets, pageHtml } from "./page";

export function navigatorHtml(assets: PageAssets): string {
  return pageHtml(
    "Navigator",
    `<div id="message" hidden></div>
<div id="search" hidden>
  <header id="header"></header>
  <div id="top"></div>
  <div id="columns" aria-hidden="true"></div>
  <div id="rows" tabindex="0" role="listbox" aria-label="Paths to go to"><div id="space"></div></div>
  <footer id="hints"></footer>
</div>
<div id="spoken" class="unseen" role="status" aria-live="polite"></div>`,
    assets,
  );
}
