/** The table of types: sorted by any column, stages below their types, everything by keys too. */
import type { TransactionsShown } from "../core/protocol";
import type { TypeAction } from "../core/transactions/messages";
import { pathParts } from "../core/transactions/paths";
import {
  firstOrder,
  nextOrder,
  type TypeColumn,
  type TypeOrder,
  type TypeRow,
  typeRows,
} from "../core/transactions/types";
import { h } from "./dom";
import { pathHtml } from "./transactionPath";

/** What can be done with the chosen type: text, its key in the table, what it does. */
const actions: readonly (readonly [TypeAction, string, string, string])[] = [
  ["search", "Search", "n", "Open its call tree in the Navigator, with hot lines beside the code"],
  ["flame", "Flame Graph", "f", "Open its call tree as a flame graph"],
  ["compare", "Compare With…", "c", "Compare what one transaction costs with another type, or with another run"],
];

const heads: readonly (readonly [TypeColumn, string, string])[] = [
  ["name", "Type", "The request, or the path that its transactions took"],
  ["cpu", "CPU", "CPU time in all processes, and its share"],
  ["count", "Count", "Transactions that began in a recorded process"],
  ["p50", "p50", "Median wall time"],
  ["p95", "p95", "Wall time that 95 % do not exceed"],
  ["p99", "p99", "Wall time that 99 % do not exceed"],
  ["waited", "Waited", "How long its transactions waited for others at locks, together"],
];

/** Rows at first: more are drawn when they are asked for. */
const atFirst = 200;

export class TypeTable {
  readonly element = h("section", { attrs: { "aria-label": "Types of transactions", id: "typesPart" } });
  private readonly body = h("tbody");
  private readonly bar = h("div", { class: "line", attrs: { id: "typeActions", role: "toolbar" } });
  private shown: TransactionsShown | undefined;
  private order: TypeOrder = firstOrder;
  private open = new Set<string>();
  private rows: TypeRow[] = [];
  private active = "";
  private chosen = "";
  private all = false;

  /** `choose` is told a type that is to be looked at, `act` what is to be done with it, `go` a function to go to. */
  constructor(
    private readonly choose: (type: string) => void,
    private readonly act: (action: TypeAction, type: string) => void,
    private readonly go: (name: string) => void,
  ) {
    this.body.addEventListener("keydown", (event) => this.key(event));
  }

  show(shown: TransactionsShown): void {
    this.shown = shown;
    this.open = new Set([...this.open].filter((name) => shown.types.some((type) => type.name === name)));
    this.draw();
  }

  /** Marks a type. */
  mark(type: string): void {
    this.chosen = type;
    for (const row of this.body.querySelectorAll<HTMLElement>("tr")) {
      row.classList.toggle("chosen", row.dataset.key === type);
    }
    this.drawBar();
  }

  /** What can be done with the chosen type, and by which path its transactions came. */
  private drawBar(): void {
    const type = this.shown?.types.find((it) => it.name === this.chosen);
    this.bar.hidden = type === undefined;
    if (type === undefined) {
      return;
    }
    this.bar.setAttribute("aria-label", `What to do with ${type.name}`);
    const buttons = actions.map(([action, text, key, title]) =>
      h("button", {
        class: "plain",
        text,
        title: `${title} ( ${key} )`,
        attrs: { "aria-keyshortcuts": key },
        data: { action },
        onclick: () => this.act(action, type.name),
      }),
    );
    const path = pathHtml(pathParts(type.context.join(" → "), type.functions), this.go);
    this.bar.replaceChildren(
      h("strong", { class: "cut", text: type.name, title: type.name }),
      ...buttons,
      ...(type.functions.length === 0 ? [] : [h("span", { class: "quiet path" }, "by ", ...path)]),
    );
  }

  private draw(): void {
    const { shown } = this;
    if (shown === undefined) {
      return;
    }
    const title = h("h2", { text: "Types" });
    if (shown.types.length === 0) {
      const text =
        "No transactions and no CPU samples were recorded. Send requests to the program while it is recorded, and record until it has answered some.";
      this.element.replaceChildren(title, h("p", { class: "quiet", text }));
      return;
    }
    this.rows = typeRows(shown, this.order, this.open);
    if (!this.rows.some((row) => row.key === this.active)) {
      this.active = this.rows[0]?.key ?? "";
    }
    const few = this.all ? this.rows : this.rows.slice(0, atFirst);
    this.body.replaceChildren(...few.map((row) => this.line(row)));
    const head = h("thead", {}, h("tr", {}, ...heads.map(([column, text, title]) => this.head(column, text, title))));
    const attrs = {
      id: "types",
      role: "treegrid",
      "aria-label": "Types of transactions. Enter shows one on the timeline, n searches it, f draws it, c compares it.",
    };
    const more = h("button", {
      class: "plain",
      text: `Show All ${this.rows.length.toLocaleString("en-US")} Rows`,
      onclick: () => {
        this.all = true;
        this.draw();
      },
    });
    this.element.replaceChildren(
      title,
      this.bar,
      h("table", { attrs }, head, this.body),
      ...(few.length < this.rows.length ? [more] : []),
    );
    this.mark(this.chosen);
  }

  private head(column: TypeColumn, text: string, title: string): HTMLElement {
    const isOrder = this.order.column === column;
    const arrow = isOrder ? (this.order.descending ? " ▼" : " ▲") : "";
    const button = h("button", {
      class: "sort",
      text: `${text}${arrow}`,
      title,
      data: { column },
      onclick: () => {
        this.order = nextOrder(this.order, column);
        this.draw();
        this.element.querySelector<HTMLElement>(`[data-column="${column}"]`)?.focus();
      },
    });
    const sort = isOrder ? (this.order.descending ? "descending" : "ascending") : "none";
    return h("th", { class: column === "name" ? "text" : "", attrs: { scope: "col", "aria-sort": sort } }, button);
  }

  private line(row: TypeRow): HTMLElement {
    const isStage = row.level === 2;
    const twistie = h("span", {
      class: "twistie",
      text: row.open === null ? "" : row.open ? "▾" : "▸",
      attrs: { "aria-hidden": "true" },
      onclick: (event) => {
        event.stopPropagation();
        this.unfold(row, row.open !== true);
      },
    });
    const bar = h("span", { class: "bar", style: { "--share": String(row.share) } });
    const numbers = [row.count, row.p50, row.p95, row.p99, row.waited].map((text) => h("td", { text }));
    const attrs = {
      role: "row",
      "aria-label": row.spoken,
      "aria-level": String(row.level),
      tabindex: row.key === this.active ? "0" : "-1",
      ...(row.open === null ? {} : { "aria-expanded": String(row.open) }),
    };
    return h(
      "tr",
      {
        class: isStage ? "stage" : "type",
        attrs,
        data: { key: row.key },
        onclick: () => this.select(row),
      },
      h("td", { class: "text name", title: row.context }, twistie, h("span", { text: row.name })),
      h(
        "td",
        { class: "cpu" },
        h("span", { class: "track" }, bar),
        h("span", { class: "part", text: row.shareText }),
        h("span", { class: "part", text: row.cpu }),
      ),
      ...numbers,
    );
  }

  private select(row: TypeRow): void {
    this.focus(row.key);
    const type = typeOf(row);
    this.mark(type);
    this.choose(type);
  }

  private unfold(row: TypeRow, open: boolean): void {
    if (open) {
      this.open.add(row.key);
    } else {
      this.open.delete(row.key);
    }
    this.active = row.key;
    this.draw();
    this.focus(row.key);
  }

  /** The row that has the focus. */
  private focus(key: string): void {
    this.active = key;
    for (const row of this.body.querySelectorAll<HTMLElement>("tr")) {
      const here = row.dataset.key === key;
      row.tabIndex = here ? 0 : -1;
      if (here) {
        row.focus();
      }
    }
  }

  private key(event: KeyboardEvent): void {
    const at = this.rows.findIndex((row) => row.key === this.active);
    const row = this.rows[at];
    if (row === undefined) {
      return;
    }
    const last = (this.all ? this.rows.length : Math.min(this.rows.length, atFirst)) - 1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      this.focus(this.rows[Math.min(Math.max(to, 0), last)]?.key ?? row.key);
    } else if (event.key === "ArrowRight" && row.open !== null) {
      if (row.open) {
        this.focus(this.rows[at + 1]?.key ?? row.key);
      } else {
        this.unfold(row, true);
      }
    } else if (event.key === "ArrowLeft") {
      const parent = this.rows.slice(0, at + 1).findLast((it) => it.level === 1) ?? row;
      if (row.open === true) {
        this.unfold(row, false);
      } else {
        this.focus(parent.key);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.select(row);
    } else if (!this.actBy(event, row)) {
      return;
    }
    event.preventDefault();
  }

  /** Does what a key without others stands for; false when it stands for nothing. */
  private actBy(event: KeyboardEvent, row: TypeRow): boolean {
    const found = actions.find(([, , key]) => key === event.key);
    if (found === undefined || event.ctrlKey || event.metaKey || event.altKey) {
      return false;
    }
    const type = typeOf(row);
    this.mark(type);
    this.act(found[0], type);
    return true;
  }
}

/** The type of a row, which may be one of its stages. */
function typeOf(row: TypeRow): string {
  return row.key.split("\n")[0] ?? row.key;
}
