/** The flame graph's page: a toolbar, a canvas, a line of text. No `vscode` in here. */
import { type PageAssets, pageHtml } from "./page";

export function flameHtml(assets: PageAssets): string {
  return pageHtml(
    "Flame Graph",
    `<header id="tools">
  <span class="group" role="group" aria-label="What to draw">
    <button id="tree" aria-pressed="true" title="The whole call tree">Whole tree</button><button id="merged" aria-pressed="false" title="The Navigator's current path, merged over all its contexts: callers above, callees below">This path</button>
  </span>
  <span class="group" id="widths" role="group" aria-label="What makes boxes wide" hidden>
    <button data-width="a" title="Boxes as wide as their cost in A">Width A</button><button data-width="b" title="Boxes as wide as their cost in B">B</button><button data-width="change" title="Boxes as wide as what changed in them">Change</button>
  </span>
  <span id="legend"></span>
  <span id="searching"><input id="text" type="search" placeholder="Search ( / )" aria-label="Search for functions" spellcheck="false"><span id="found" role="status"></span></span>
</header>
<nav id="trail" aria-label="Zoomed on"></nav>
<main id="scroller"><div id="space"><canvas id="canvas" tabindex="0" role="application" aria-roledescription="flame graph" aria-label="Flame graph. Arrow keys move, Enter zooms in, Escape zooms out, slash searches."></canvas></div></main>
<footer id="status"><span id="spoken" role="status" aria-live="polite"></span><span id="hints"><kbd>←↑↓→</kbd> move <kbd>↵</kbd> zoom <kbd>Esc</kbd> out <kbd>/</kbd> search <kbd>M</kbd> merge <kbd>O</kbd> source <kbd>P</kbd> to Navigator</span></footer>
<div id="tip" role="tooltip" hidden></div>
<p id="nothing" role="status" hidden></p>`,
    assets,
  );
}
