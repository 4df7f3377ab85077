/** The table of types: sorted by any column, stages below their types, everything by keys too. */
import type { TransactionsShown } from "../core/protocol";
import {
  firstOrder,
  nextOrder,
  type TypeColumn,
  type TypeOrder,
  type TypeRow,
  typeRows,
} from "../core/transactions/types";
import { h } from "./dom";

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
  private shown: TransactionsShown | undefined;
  private order: TypeOrder = firstOrder;
  private open = new Set<string>();
  private rows: TypeRow[] = [];
  private active = "";
  private chosen = "";
  private all = false;

  /** `choose` is told a type that is to be looked at. */
  constructor(private readonly choose: (type: string) => void) {
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
      "aria-label": "Types of transactions. Enter shows one on the timeline.",
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
    this.go(row.key);
    this.choose(row.key.split("\n")[0] ?? row.key);
  }

  private unfold(row: TypeRow, open: boolean): void {
    if (open) {
      this.open.add(row.key);
    } else {
      this.open.delete(row.key);
    }
    this.active = row.key;
    this.draw();
    this.go(row.key);
  }

  /** The row that has the focus. */
  private go(key: string): void {
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
      this.go(this.rows[Math.min(Math.max(to, 0), last)]?.key ?? row.key);
    } else if (event.key === "ArrowRight" && row.open !== null) {
      if (row.open) {
        this.go(this.rows[at + 1]?.key ?? row.key);
      } else {
        this.unfold(row, true);
      }
    } else if (event.key === "ArrowLeft") {
      const parent = this.rows.slice(0, at + 1).findLast((it) => it.level === 1) ?? row;
      if (row.open === true) {
        this.unfold(row, false);
      } else {
        this.go(parent.key);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.select(row);
    } else {
      return;
    }
    event.preventDefault();
  }
}
