/** The compare view as HTML: a thin drawing of {@link CompareModel}. No `vscode` in here. */
import type { Axis, CompareModel, ComparePointModel, CompareRow, Range } from "../core/compare";
import { signedPercent } from "../core/format";
import { type FoldedNote, foldNotes, moreText } from "../core/notes";
import { type PageAssets, pageHtml, escapeHtml as safe } from "./page";

const width = 240;
const height = 34;
const margin = 8;

export function compareHtml(model: CompareModel, assets: PageAssets): string {
  return page(
    assets,
    `<header>
  <h1>Predicted and Actual</h1>
  <dl class="runs">
    <div><dt>Before</dt><dd>${safe(model.before)}</dd></div>
    <div><dt>After</dt><dd>${safe(model.after)}</dd></div>
  </dl>
  <div class="actions">
    <button data-action="swap">Swap Before and After</button>
    <button data-action="choose">Choose Other Runs…</button>
    <button data-action="refresh">Compare Again</button>
  </div>
</header>
<main>
${model.points.map(pointHtml).join("\n")}
${model.points.length === 0 ? "<p>The two runs have no progress point in common, so nothing can be compared. Choose two runs of one program.</p>" : ""}
${notesHtml(model.notes)}
</main>`,
  );
}

/** In place of the table: what went wrong and what to do. */
export function problemHtml(message: string, assets: PageAssets): string {
  return page(
    assets,
    `<main><h1>Predicted and Actual</h1><p role="alert">${safe(message)}</p>
<div class="actions"><button data-action="choose">Choose Other Runs…</button>
<button data-action="refresh">Try Again</button></div></main>`,
  );
}

export function loadingHtml(assets: PageAssets): string {
  return page(assets, `<main><h1>Predicted and Actual</h1><p role="status">Comparing the two runs…</p></main>`);
}

function page(assets: PageAssets, body: string): string {
  return pageHtml("Predicted and Actual", body, assets);
}

function pointHtml(point: ComparePointModel, index: number): string {
  const id = `point-${index}`;
  return `<section aria-labelledby="${id}">
<h2 id="${id}">${safe(point.name)} <small>${safe(point.kind)}</small></h2>
<p class="actual">${safe(point.actual)}</p>
${point.rows.length === 0 ? "<p>No target was measured in both runs.</p>" : tableHtml(point, index)}
</section>`;
}

function tableHtml(point: ComparePointModel, index: number): string {
  return `<table>
<caption class="unseen">Each target: its own cost for each visit before and after, the speedup that it really got, what the run before
predicted for the program at that speedup, and what happened.</caption>
<thead><tr>
<th scope="col">Target</th>
<th scope="col" class="number">Cost a visit</th>
<th scope="col" class="number">Speedup it got</th>
<th scope="col" class="number">Predicted</th>
<th scope="col" class="number">Actual</th>
<th scope="col" class="picture"><span class="legend"><span class="key predicted" aria-hidden="true"></span>predicted
<span class="key actual" aria-hidden="true"></span>actual</span>${axisSvg(point.axis)}</th>
</tr></thead>
<tbody>
${point.rows.map((row, n) => rowHtml(row, point.axis, index, n)).join("\n")}
</tbody>
</table>`;
}

function rowHtml(row: CompareRow, axis: Axis, point: number, target: number): string {
  const remark = row.remark === "" ? "" : `<br><small>${safe(row.remark)}</small>`;
  const unchanged = row.changed ? "" : ' class="unchanged"';
  return `<tr${unchanged} data-point="${point}" data-target="${target}">
<th scope="row"><button class="link" title="${safe(row.location)}">${safe(row.label)}</button>${remark}</th>
<td class="number">${safe(row.costBefore)} → ${safe(row.costAfter)}</td>
<td class="number">${safe(row.speedup)}</td>
<td class="number">${safe(row.predicted)}</td>
<td class="number">${safe(row.actual)}</td>
<td class="picture">${rowSvg(row, axis)}</td>
</tr>
<tr${unchanged} data-point="${point}" data-target="${target}"><td class="verdict" colspan="6">${safe(row.verdict)}</td></tr>`;
}

/** Predicted above, hollow with a round mark; actual below, filled with a pointed one: told apart without colour. */
function rowSvg(row: CompareRow, axis: Axis): string {
  const x = scale(axis);
  const lines = axis.ticks.map((tick) => {
    const zero = Math.abs(tick) < 1e-9 ? ' class="zero"' : "";
    return `<path${zero} d="M${x(tick)} 0V${height}"/>`;
  });
  return `<svg role="img" aria-label="${safe(row.description)}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<g class="grid">${lines.join("")}</g>${bar(row.predictedRange, "predicted", 10, x)}${bar(row.actualRange, "actual", 24, x)}</svg>`;
}

function bar(range: Range | null, kind: "predicted" | "actual", y: number, x: (value: number) => number): string {
  if (range === null) {
    return "";
  }
  const [left, right, middle] = [x(range.low), x(range.high), x(range.value)];
  const mark =
    kind === "predicted"
      ? `<circle cx="${middle}" cy="${y}" r="4"/>`
      : `<path d="M${middle} ${y - 5}l5 5l-5 5l-5-5z"/>`;
  const span = Math.max(right - left, 1);
  return `<g class="${kind}"><rect x="${left}" y="${y - 3}" width="${round(span)}" height="6" rx="2"/>${mark}</g>`;
}

function axisSvg(axis: Axis): string {
  const x = scale(axis);
  const labels = axis.ticks.map((tick, n) => {
    const anchor = n === 0 ? "start" : n === axis.ticks.length - 1 ? "end" : "middle";
    return `<text x="${n === 0 ? 0 : n === axis.ticks.length - 1 ? width : x(tick)}" y="10" text-anchor="${anchor}">${signedPercent(Math.abs(tick) < 1e-9 ? 0 : tick)}</text>`;
  });
  return `<svg class="axis" aria-hidden="true" width="${width}" height="13" viewBox="0 0 ${width} 13">${labels.join("")}</svg>`;
}

function scale(axis: Axis): (value: number) => number {
  const span = axis.high - axis.low;
  return (value) => {
    const inside = Math.min(Math.max(value, axis.low), axis.high);
    return round(margin + ((inside - axis.low) / span) * (width - 2 * margin));
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function notesHtml(notes: readonly string[]): string {
  return notes.length === 0 ? "" : `<section aria-label="Notes"><ul class="notes">${notesItems(notes)}</ul></section>`;
}

/** Each with what is more than a sentence folded, and the last of many. */
function notesItems(notes: readonly string[]): string {
  const { shown, more } = foldNotes(notes);
  const items = (all: readonly FoldedNote[]) =>
    all.map(({ begins, rest }) => `<li>${rest === "" ? safe(begins) : folded(begins, safe(rest))}</li>`).join("");
  return items(shown) + (more.length === 0 ? "" : `<li>${folded(moreText(more), `<ul>${items(more)}</ul>`)}</li>`);
}

/** `rest` is HTML. */
function folded(begins: string, rest: string): string {
  return `<details><summary>${safe(begins)}</summary>${rest}</details>`;
}
