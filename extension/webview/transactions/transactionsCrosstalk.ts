/** Crosstalk as a heat map, and below it what is known of the chosen pair. */
import type { TransactionsCrosstalk } from "../../core/engine/protocol";
import {
  type CrosstalkCell,
  type CrosstalkMatrix,
  crosstalkMatrix,
  type PairLock,
  pairLocks,
} from "../../core/transactions/crosstalk";
import type { SectionOf } from "../../core/transactions/messages";
import { h } from "../dom";
import { pathHtml } from "./transactionPath";

/** Call paths that are shown of a lock. */
const mostPaths = 10;

export class CrosstalkView {
  readonly element = h("section", { attrs: { "aria-label": "Crosstalk", id: "crosstalkPart" } });
  private readonly pair = h("div", { attrs: { id: "pair", "aria-live": "polite" } });
  private crosstalk: TransactionsCrosstalk | undefined;
  /** The pair that is shown. */
  private chosen: { waiter: string; holder: string } | undefined;

  /** `go` is told a function whose source is wanted, `measure` a section whose worth is. */
  constructor(
    private readonly go: (name: string) => void,
    private readonly measure: (section: SectionOf) => void,
  ) {}

  show(crosstalk: TransactionsCrosstalk): void {
    this.crosstalk = crosstalk;
    const matrix = crosstalkMatrix(crosstalk);
    const title = h("h2", { text: "Crosstalk" });
    if (matrix === null) {
      const text =
        "No transaction waited for another one at a lock. Under more load some may: record again with more clients.";
      this.element.replaceChildren(title, h("p", { class: "quiet", text }));
      return;
    }
    const says = "Who waited for whom at locks: rows wait, columns hold. Choose a cell for its locks and call paths.";
    this.pair.replaceChildren();
    const chosen = matrix.cells.flat().find((cell) => cell !== null && this.isChosen(cell));
    this.element.replaceChildren(
      title,
      h("p", { class: "quiet", text: says }),
      h("div", { class: "scroll" }, this.table(matrix)),
      this.pair,
    );
    if (chosen !== null && chosen !== undefined) {
      this.open(chosen);
    }
  }

  private isChosen(cell: { waiter: string; holder: string }): boolean {
    return cell.waiter === this.chosen?.waiter && cell.holder === this.chosen.holder;
  }

  private table(matrix: CrosstalkMatrix): HTMLElement {
    const heads = matrix.holders.map((holder) =>
      h("th", { attrs: { scope: "col" }, title: holder }, h("span", { class: "cut", text: holder })),
    );
    const corner = h("th", { class: "text", text: "waits ↓ for →", attrs: { scope: "col" } });
    const all = h("th", { text: "all", attrs: { scope: "col" } });
    const rows = matrix.waiters.map((waiter, n) => {
      const name = h("span", { class: "cut", text: waiter });
      const cells = (matrix.cells[n] ?? []).map((cell) => h("td", {}, cell === null ? null : this.cell(cell)));
      const head = h("th", { class: "text", title: waiter, attrs: { scope: "row" } }, name);
      return h("tr", {}, head, ...cells, h("td", { class: "total", text: matrix.totals[n] ?? "" }));
    });
    const table = h(
      "table",
      { attrs: { id: "crosstalk", "aria-label": "Crosstalk: rows wait, columns hold" } },
      h("thead", {}, h("tr", {}, corner, ...heads, all)),
      h("tbody", {}, ...rows),
    );
    const first = table.querySelector<HTMLElement>(".cell");
    if (first !== null) {
      first.tabIndex = 0;
    }
    table.addEventListener("keydown", (event) => move(table, event));
    return table;
  }

  private cell(cell: CrosstalkCell): HTMLElement {
    const button = h(
      "button",
      {
        class: "heat cell",
        title: cell.spoken,
        attrs: { "aria-pressed": "false", tabindex: "-1" },
        data: { waiter: cell.waiter, holder: cell.holder },
        style: { "--heat": String(cell.heat) },
        onclick: () => this.choose(cell, button),
      },
      h("strong", { text: cell.total, attrs: { "aria-hidden": "true" } }),
      h("span", { class: "small", text: `${cell.mean} × ${cell.count}`, attrs: { "aria-hidden": "true" } }),
      h("span", { class: "unseen", text: cell.spoken }),
    );
    return button;
  }

  private choose(cell: CrosstalkCell, button: HTMLElement): void {
    focusOn(button, this.element);
    this.open(cell);
  }

  /** Shows what is known of a pair. */
  private open(cell: CrosstalkCell): void {
    this.chosen = cell;
    for (const other of this.element.querySelectorAll<HTMLElement>(".cell")) {
      const { waiter = "", holder = "" } = other.dataset;
      other.setAttribute("aria-pressed", String(this.isChosen({ waiter, holder })));
    }
    const locks = pairLocks(this.crosstalk ?? { waitNs: 0, pairs: [], notes: [] }, cell.waiter, cell.holder);
    this.pair.replaceChildren(
      h("h3", { text: `${cell.waiter} waits for ${cell.holder}` }),
      ...locks.map((lock) => lockHtml(lock, this.go, priceHtml(lock, this.measure))),
    );
  }
}

/** What the section is worth, as far as that is known, and a button that measures it. */
function priceHtml({ price, section }: PairLock, measure: (section: SectionOf) => void): (HTMLElement | null)[] {
  const known =
    price === null
      ? null
      : h(
          "div",
          { class: "price" },
          h("p", {}, h("strong", { text: price.sentence })),
          h("ul", { class: "notes" }, ...price.notes.map((text) => h("li", { text }))),
        );
  if (section === null) {
    return [known];
  }
  const button = h("button", {
    class: "plain measure",
    text: price === null ? "Measure What This Section Is Worth" : "Measure Again",
    title:
      "Start the program again, let the section take half the time, and see how much faster the requests of who waits would be",
    onclick: () => measure(section),
  });
  return [known, button];
}

function lockHtml(lock: PairLock, go: (name: string) => void, price: readonly (HTMLElement | null)[]): HTMLElement {
  const of = lock.types === null ? "" : `${lock.types}: `;
  const paths = lock.paths
    .slice(0, mostPaths)
    .map((path) =>
      h(
        "tr",
        {},
        h("td", { text: path.total }),
        h("td", { class: "text path" }, ...pathHtml(path.waiter, go)),
        h("td", { class: "text path" }, ...pathHtml(path.holder, go)),
      ),
    );
  const heads = [h("th", { text: "Waited" }), h("th", { class: "text", text: "Waits in" })];
  const head = h("tr", {}, ...heads, h("th", { class: "text", text: "For who is in" }));
  return h(
    "div",
    { class: "lock" },
    h(
      "p",
      {},
      h("strong", { text: `${of}${lock.lock}` }),
      ` ${lock.total} in ${lock.count} waits, ${lock.mean} on average`,
    ),
    ...price,
    paths.length === 0
      ? h("p", { class: "quiet", text: "Its call paths are not known." })
      : h("table", { attrs: { "aria-label": "Call paths" } }, h("thead", {}, head), h("tbody", {}, ...paths)),
    lock.paths.length > mostPaths
      ? h("p", { class: "quiet", text: `The ${mostPaths} longest of ${lock.paths.length} pairs of call paths.` })
      : null,
  );
}

/** Arrows go to the next cell that has a wait. */
function move(table: HTMLTableElement, event: KeyboardEvent): void {
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  const here = event.target instanceof Element ? event.target.closest("td") : null;
  const rows = [...(table.tBodies[0]?.rows ?? [])];
  if (step === undefined || here === null) {
    return;
  }
  event.preventDefault();
  let row = rows.findIndex((it) => it.contains(here));
  let column = here.cellIndex;
  for (;;) {
    row += step[0] ?? 0;
    column += step[1] ?? 0;
    const cell = rows[row]?.cells[column];
    if (cell === undefined) {
      return;
    }
    const button = cell.querySelector<HTMLElement>(".cell");
    if (button !== null) {
      focusOn(button, table);
      return;
    }
  }
}

function focusOn(button: HTMLElement, within: HTMLElement): void {
  for (const other of within.querySelectorAll<HTMLElement>(".cell")) {
    other.tabIndex = -1;
  }
  button.tabIndex = 0;
  button.focus();
}
