/** The tree of a trace: a grid of rows, of which only those on screen exist as elements. */
import { Fragment, h, render, type VNode } from "preact";
import type { EventsHit, EventsOpened, EventsOrder, EventsRow } from "../../core/engine/protocol";
import { Chosen } from "../../core/trace/chosen";
import { type Branch, LazyTree } from "../../core/trace/lazyTree";
import type { FromTrace, RowsWanted } from "../../core/trace/messages";
import { eventRow, type TraceRow, threadRows } from "../../core/trace/rows";
import { nextFrame } from "../settled";
import { Headings, type Optional, Row, rowHeight } from "./traceRow";

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
    render(<Headings has={this.has} />, this.columns);
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

  /** One more step towards the requested row: opens what has arrived, requests what has not. */
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

  /** Columns that not every trace has. */
  private get has(): Optional {
    return { cpu: this.trace?.hasCpu === true, queue: this.queue };
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
    const { has } = this;
    const rows = Array.from({ length: Math.max(0, end - first) }, (_, n) => this.entry(first + n, has));
    render(h(Fragment, {}, rows), this.space);
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

  private entry(at: number, has: Optional): VNode {
    const entry = this.tree.entry(at);
    return (
      <Row
        key={at}
        at={at}
        depth={entry?.depth ?? 0}
        index={entry?.index ?? 0}
        siblings={entry?.branch.total ?? 0}
        open={entry?.open === true}
        active={at === this.active}
        row={entry?.row}
        has={has}
      />
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
      // After a jump the row is in the middle, after a step at the edge.
      const far = top > this.scroller.scrollTop + this.scroller.clientHeight + rowHeight;
      const space = far ? this.scroller.clientHeight / 2 : this.scroller.clientHeight - rowHeight;
      this.scroller.scrollTop = top - space;
    }
    this.draw();
    this.chosen.choose(this.row(at));
  }
}
