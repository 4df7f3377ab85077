/** A trace's page: a toolbar, threads over time, the tree of events. No `vscode` in here. */
import { type PageAssets, pageHtml } from "./page";

export function traceHtml(assets: PageAssets): string {
  const order = (id: string, text: string, title: string) =>
    `<button data-order="${id}" aria-pressed="${id === "time"}" title="${title}">${text}</button>`;
  return pageHtml(
    "Trace",
    `<div id="message" hidden></div>
<div id="trace" hidden>
<header id="tools">
  <span class="group" role="group" aria-label="Order of rows">${[
    order("time", "In time", "Rows in the order of time"),
    order("wall", "Wall", "The most wall time first"),
    order("cpu", "CPU", "The most CPU time first"),
    order("selfWall", "Self", "The most wall time of its own first"),
  ].join("")}</span>
  <label id="queueing" hidden>Queue <select id="queue"></select> <select id="queueOrder" aria-label="How puts and takes are joined" title="How puts and takes are joined">${[
    ["", "best order"],
    ["fifo", "first in, first out"],
    ["lifo", "last in, first out"],
    ["identity", "by objects"],
  ]
    .map(([order, text]) => `<option value="${order}">${text}</option>`)
    .join("")}</select></label>
  <span class="group"><button id="refine" title="Run the program again and again, each time with fewer probes, until only hotspots have any">Refine</button><button id="compare" title="Compare this trace with another one">Compare…</button></span>
  <span id="searching"><input id="text" type="search" placeholder="Search ( / )" aria-label="Search for methods, classes and events" spellcheck="false"><span id="found" role="status"></span></span>
</header>
<div id="legend" aria-hidden="true"></div>
<section id="timeline" aria-label="Threads over time"><div id="lanes"><canvas id="drawing" tabindex="0" role="application" aria-roledescription="timeline" aria-label="Threads over time. Up and down choose a thread, left and right move, plus and minus zoom, Enter goes to the thread's events."></canvas></div></section>
<div id="split" role="separator" aria-orientation="horizontal" aria-label="Height of the timeline" aria-controls="timeline" tabindex="0"></div>
<div id="columns" aria-hidden="true"></div>
<div id="events" tabindex="0" role="treegrid" aria-label="Threads and their events"><div id="space" role="rowgroup"></div></div>
<footer id="status"><span id="spoken" role="status" aria-live="polite"></span><span id="actions"><button id="source" title="Go to the method (O)">Source</button><button id="bottlenecks" title="Search bottlenecks from here (B)">Search bottlenecks from here</button><button id="filter" title="A filter that observes what matters here (F)">Refine filter</button></span><span id="hints"><kbd>↑↓</kbd> row <kbd>←→</kbd> close, open <kbd>/</kbd> search <kbd>Z</kbd> zoom <kbd>O</kbd> source <kbd>B</kbd> bottlenecks <kbd>F</kbd> filter</span></footer>
</div>
<div id="tip" role="tooltip" hidden></div>`,
    assets,
  );
}
