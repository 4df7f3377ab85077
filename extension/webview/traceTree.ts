/** The tree of a trace: a grid of rows, of which only those on screen exist as elements. */
import type { EventsHit, EventsOpened, EventsOrder, EventsRow } from "../core/protocol";
import { Chosen } from "../core/trace/chosen";
import { type Branch, LazyTree } from "../core/trace/lazyTree";
import type { FromTrace, RowsWanted } from "../core/trace/messages";
import { cellsOf, eventRow, spokenOf, type TraceRow, threadRows, titleOf } from "../core/trace/rows";
import { h } from "./dom";
import { nextFrame } from "./settled";

const rowHeight = 22;
/** Deeper rows are no longer moved to the right, or nothing of them would be seen. */
const deepestIndent = 24;

export class TraceTree {
  private tree = new LazyTree<TraceRow>([]);
  private trace: EventsOpened | undefined;
  private order: EventsOrder = "time";
  private queue = false;
  private round = 0;
  private readonly asked = new Set<string>();
  private active = 0;
  private readonly chosen: Chosen<TraceRow>;
  private drawing = 0;
  /** What is to be shown as soon as the rows on the way to it have come. */
  private wanted: EventsHit | undefined;

  constructor(
    private readonly scroller: HTMLElement,
    private readonly space: HTMLElement,
    private readonly columns: HTMLElement,
    private readonly send: (message: FromTrace) => void,
    chosen: (row: TraceRow | undefined, led: boolean) => void,
    private readonly key: (key: string) => boolean,
  ) {
    this.chosen = new Chosen(chosen);
    scroller.addEventListener("scroll", () => this.drawSoon());
    scroller.addEventListener("keydown", (event) => this.keydown(event));
    scroller.addEventListener("click", (event) => this.click(event));
    scroller.addEventListener("dblclick", () => this.key("Enter"));
    new ResizeObserver(() => this.drawSoon()).observe(scroller);
  }

  /** A trace, or the same one with other queue columns. */
  show(trace: EventsOpened, round: number, queue: boolean): void {
    const same = this.trace?.id === trace.id;
    this.trace = trace;
    this.round = round;
    this.queue = queue;
    this.asked.clear();
    if (same) {
      this.tree.forgetRows();
    } else {
      this.tree = new LazyTree(threadRows(trace));
      this.active = 0;
      this.scroller.scrollTop = 0;
    }
    this.columns.replaceChildren(...this.headings());
    if (same) {
      this.draw();
      this.chosen.update(this.row(this.active));
    } else {
      this.choose(this.active);
    }
  }

  setOrder(order: EventsOrder): void {
    if (this.trace === undefined || order === this.order) {
      return;
    }
    this.order = order;
    const open = this.openThreads();
    this.tree = new LazyTree(threadRows(this.trace));
    this.asked.clear();
    for (const index of open) {
      this.tree.root.set(index, true);
    }
    this.choose(Math.min(this.active, this.tree.length - 1), false);
  }

  get ordered(): EventsOrder {
    return this.order;
  }

  receive(round: number, wanted: RowsWanted, rows: readonly EventsRow[]): void {
    if (round !== this.round || wanted.order !== this.order) {
      return;
    }
    const branch = this.branchOf(wanted);
    if (branch !== undefined) {
      this.tree.receive(branch, wanted.from, rows.map(eventRow));
    }
    this.goOn();
    this.draw();
    this.chosen.update(this.row(this.active));
  }

  get selected(): TraceRow | undefined {
    return this.row(this.active);
  }

  focus(): void {
    this.scroller.focus();
  }

  /** Chooses a thread's row, opened. */
  goToThread(thread: number): void {
    const index = this.trace?.threads.findIndex((it) => it.id === thread) ?? -1;
    if (index >= 0) {
      const at = this.tree.position(this.tree.root, index);
      this.tree.set(at, true);
      this.choose(at);
    }
  }

  /** Opens everything around a row, and chooses it. Places are known in the order of time. */
  reveal(hit: EventsHit): void {
    this.wanted = hit;
    this.goOn();
    this.draw();
  }

  /** One more step on the way to what is wanted: opens what has come, asks for what has not. */
  private goOn(): void {
    const hit = this.wanted;
    const index = hit === undefined ? -1 : (this.trace?.threads.findIndex((it) => it.id === hit.row.thread) ?? -1);
    if (hit === undefined || index < 0) {
      return;
    }
    this.tree.root.set(index, true);
    let branch = this.tree.root.branch(index);
    for (const { position } of hit.above) {
      if (branch === undefined) {
        return;
      }
      if (branch.rows.get(position) === undefined) {
        this.askFor(branch, position);
        return;
      }
      branch.set(position, true);
      branch = branch.branch(position);
    }
    if (branch === undefined) {
      return;
    }
    this.wanted = undefined;
    this.choose(this.tree.position(branch, hit.position));
  }

  private openThreads(): number[] {
    return (this.trace?.threads ?? []).flatMap((_, index) => (this.tree.root.isOpen(index) ? [index] : []));
  }

  private row(at: number): TraceRow | undefined {
    return this.tree.entry(at)?.row;
  }

  private headings(): HTMLElement[] {
    const cell = (text: string, name = "cell") => h("span", { class: name, text });
    return [
      cell("Event", "name"),
      cell("Start", "cell start"),
      cell("Wall"),
      ...(this.trace?.hasCpu === true ? [cell("CPU")] : []),
      cell("Self"),
      ...(this.queue ? [cell("Queueing", "cell queueing")] : []),
    ];
  }

  drawSoon(): void {
    this.drawing ||= nextFrame(() => {
      this.drawing = 0;
      this.draw();
    });
  }

  private draw(): void {
    this.space.style.height = `${this.tree.length * rowHeight}px`;
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - 4);
    const end = Math.min(this.tree.length, Math.ceil((scrollTop + clientHeight) / rowHeight) + 4);
    for (const { branch, from, count } of this.tree.missing(first, end)) {
      this.ask(branch, from, count);
    }
    this.space.replaceChildren(...Array.from({ length: Math.max(0, end - first) }, (_, n) => this.element(first + n)));
    this.scroller.setAttribute("aria-rowcount", String(this.tree.length));
    const active = this.active >= first && this.active < end ? `row-${this.active}` : "";
    this.scroller.setAttribute("aria-activedescendant", active);
  }

  private askFor(branch: Branch<TraceRow>, index: number): void {
    const { from, count } = this.tree.pageOf(branch, index);
    this.ask(branch, from, count);
  }

  private ask(branch: Branch<TraceRow>, from: number, count: number): void {
    const of = this.rowOf(branch);
    if (of === undefined) {
      return;
    }
    const wanted: RowsWanted = {
      thread: of.kind === "thread" ? of.thread.id : of.event.thread,
      node: of.kind === "thread" ? null : of.event.node,
      order: this.order,
      from,
      count,
    };
    const key = JSON.stringify(wanted);
    if (!this.asked.has(key)) {
      this.asked.add(key);
      this.send({ type: "rows", round: this.round, wanted });
    }
  }

  private rowOf(branch: Branch<TraceRow>): TraceRow | undefined {
    return branch.parent?.rows.get(branch.index);
  }

  private branchOf({ thread, node }: RowsWanted): Branch<TraceRow> | undefined {
    const top = this.tree.root.branch(this.trace?.threads.findIndex((it) => it.id === thread) ?? -1);
    if (node === null || top === undefined) {
      return top;
    }
    for (const branch of top.all()) {
      const row = this.rowOf(branch);
      if (row?.kind === "event" && row.event.node === node) {
        return branch;
      }
    }
    return undefined;
  }

  private element(at: number): HTMLElement {
    const entry = this.tree.entry(at);
    const row = entry?.row;
    const style = {
      top: `${at * rowHeight}px`,
      "--depth": String(Math.min(entry?.depth ?? 0, deepestIndent)),
    };
    const attrs: Record<string, string> = {
      id: `row-${at}`,
      role: "row",
      "aria-level": String((entry?.depth ?? 0) + 1),
      "aria-rowindex": String(at + 1),
      "aria-posinset": String((entry?.index ?? 0) + 1),
      "aria-setsize": String(entry?.branch.total ?? 0),
      "aria-selected": String(at === this.active),
    };
    const data = { at: String(at) };
    const active = at === this.active ? " active" : "";
    if (entry === undefined || row === undefined) {
      return h("div", { class: `row pending${active}`, style, attrs, data, text: "…" });
    }
    if (row.children > 0) {
      attrs["aria-expanded"] = String(entry.open);
    }
    attrs["aria-label"] = spokenOf(row);
    const cells = cellsOf(row);
    const twistie = row.children === 0 ? "" : entry.open ? "⌄" : "›";
    const kind = row.kind === "thread" ? "thread" : row.event.kind;
    const cell = (text: string, name = "cell") => h("span", { class: name, text, attrs: { role: "gridcell" } });
    return h(
      "div",
      { class: `row ${kind}${active}`, title: titleOf(row), style, attrs, data },
      h("span", { class: "twistie", text: twistie, attrs: { "aria-hidden": "true" } }),
      h(
        "span",
        { class: "name", attrs: { role: "gridcell" } },
        ...(row.kind === "event" && cells.tag !== null ? [h("span", { class: "tag", text: cells.tag })] : []),
        h("bdi", { text: cells.name }),
        ...(cells.values === "" ? [] : [h("bdi", { class: "values", text: cells.values })]),
        ...(row.kind === "thread" ? [h("span", { class: "quiet", text: cells.tag ?? "" })] : []),
      ),
      cell(cells.start, "cell start"),
      cell(cells.wall),
      ...(this.trace?.hasCpu === true ? [cell(cells.cpu)] : []),
      cell(cells.self),
      ...(this.queue ? [cell(cells.queue, "cell queueing")] : []),
    );
  }

  private click({ target }: MouseEvent): void {
    const element = target as Element;
    const at = Number(element.closest<HTMLElement>("[data-at]")?.dataset.at ?? -1);
    if (at < 0) {
      return;
    }
    const entry = this.tree.entry(at);
    if (element.closest(".twistie") !== null || entry?.row?.kind === "thread") {
      this.tree.set(at, !(entry?.open ?? false));
    }
    this.choose(at);
  }

  private keydown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (this.go(event.key) || this.key(event.key)) {
      event.preventDefault();
    }
  }

  private go(key: string): boolean {
    const entry = this.tree.entry(this.active);
    switch (key) {
      case "ArrowRight":
        if (!this.tree.set(this.active, true) && entry?.open === true) {
          this.choose(this.active + 1);
        } else {
          this.draw();
        }
        return true;
      case "ArrowLeft":
        if (!this.tree.set(this.active, false)) {
          this.choose(this.tree.parentOf(this.active) ?? this.active);
        } else {
          this.draw();
        }
        return true;
      case " ":
        this.tree.set(this.active, !(entry?.open ?? false));
        this.draw();
        return true;
      default: {
        const pageRows = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 1);
        const next = this.tree.move(this.active, key, pageRows);
        if (next !== undefined) {
          this.choose(next);
        }
        return /^(Arrow(Up|Down)|Page(Up|Down)|Home|End)$/.test(key);
      }
    }
  }

  private choose(at: number, scroll = true): void {
    this.active = at;
    const top = at * rowHeight;
    if (scroll && top < this.scroller.scrollTop) {
      this.scroller.scrollTop = top;
    } else if (scroll && top + rowHeight > this.scroller.scrollTop + this.scroller.clientHeight) {
      // What was jumped to stands in the middle, what was stepped to at the edge.
      const far = top > this.scroller.scrollTop + this.scroller.clientHeight + rowHeight;
      const space = far ? this.scroller.clientHeight / 2 : this.scroller.clientHeight - rowHeight;
      this.scroller.scrollTop = top - space;
    }
    this.draw();
    this.chosen.choose(this.row(at));
  }
}
