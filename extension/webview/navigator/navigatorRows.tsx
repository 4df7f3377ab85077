/** The rows below the current path: only those on screen exist as elements, and only those are asked for. */
import { Fragment, h, render, type VNode } from "preact";
import type { NavigatorStep } from "../../core/engine/protocol";
import { locate, type RowModel } from "../../core/navigator/lists";
import type { FromNavigator } from "../../core/navigator/messages";
import type { NavigatorModel } from "../../core/navigator/model";
import { VirtualList } from "../../core/navigator/virtualList";
import { nextFrame } from "../settled";
import { Columns, Heading, Remark, Row, rowHeight } from "./navigatorRow";

export class Rows {
  private model: NavigatorModel | undefined;
  private list = new VirtualList([]);
  private readonly known = new Map<string, RowModel>();
  private readonly asked = new Set<string>();
  /** The entry with the cursor. */
  private active = -1;
  private drawing = 0;

  constructor(
    private readonly scroller: HTMLElement,
    private readonly space: HTMLElement,
    private readonly columns: HTMLElement,
    private readonly send: (message: FromNavigator) => void,
    private readonly speak: (text: string) => void,
  ) {
    scroller.addEventListener("scroll", () => this.drawSoon());
    scroller.addEventListener("keydown", (event) => this.key(event));
    scroller.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.drawSoon()).observe(scroller);
  }

  show(model: NavigatorModel | undefined): void {
    const other = model === undefined || model.revision !== this.model?.revision;
    this.model = model;
    const lists = model?.lists ?? [];
    this.list = new VirtualList(lists.map((list) => ({ count: list.count, footer: list.footer !== null })));
    this.space.style.height = `${this.list.length * rowHeight}px`;
    this.scroller.classList.toggle("comparing", model?.comparison === true);
    this.columns.classList.toggle("comparing", model?.comparison === true);
    render(model === undefined ? null : <Columns model={model} />, this.columns);
    if (other) {
      this.known.clear();
      this.asked.clear();
      this.active = this.list.move(-1, "Home", 0) ?? -1;
      this.scroller.scrollTop = 0;
      // The list is where the keys are: users who walk through paths, or whose pressed button has gone, stay in it.
      if (document.hasFocus() && (document.activeElement ?? document.body) === document.body) {
        this.scroller.focus();
      }
    }
    this.draw();
  }

  receive(revision: number, step: NavigatorStep, from: number, rows: readonly RowModel[]): void {
    if (revision !== this.model?.revision) {
      return;
    }
    rows.forEach((row, n) => {
      this.known.set(`${step}:${from + n}`, row);
    });
    this.drawSoon();
  }

  private row(part: number, index: number): RowModel | undefined {
    const list = this.model?.lists[part];
    const place = list === undefined ? undefined : locate(list, index);
    return place === undefined ? undefined : this.known.get(`${place.step}:${place.index}`);
  }

  private drawSoon(): void {
    this.drawing ||= nextFrame(() => {
      this.drawing = 0;
      this.draw();
    });
  }

  private draw(): void {
    const { scrollTop, clientHeight } = this.scroller;
    const [first, end] = this.list.visible(scrollTop, clientHeight, rowHeight);
    this.ask(first, end);
    const entries = Array.from({ length: end - first }, (_, n) => this.entry(first + n));
    render(h(Fragment, {}, entries), this.space);
    const active = this.active >= first && this.active < end ? `entry-${this.active}` : "";
    this.scroller.setAttribute("aria-activedescendant", active);
  }

  private ask(first: number, end: number): void {
    const model = this.model;
    if (model === undefined) {
      return;
    }
    for (const range of this.list.missing(first, end, (part, index) => this.row(part, index) !== undefined)) {
      const list = model.lists[range.part];
      // A page can have rows of two steps that are below one heading.
      for (let index = range.from; list !== undefined && index < range.from + range.count; ) {
        const place = locate(list, index);
        if (place === undefined) {
          break;
        }
        const left = (list.sources.find((source) => source.step === place.step)?.count ?? 0) - place.index;
        const count = Math.min(left, range.from + range.count - index);
        const key = `${place.step}:${place.index}:${count}`;
        if (!this.asked.has(key)) {
          this.asked.add(key);
          this.send({ type: "rows", revision: model.revision, step: place.step, from: place.index, count });
        }
        index += count;
      }
    }
  }

  private entry(at: number): VNode | null {
    const entry = this.list.entry(at);
    const list = this.model?.lists[entry?.part ?? -1];
    if (entry === undefined || list === undefined) {
      return null;
    }
    switch (entry.kind) {
      case "heading":
        return <Heading key={at} at={at} list={list} />;
      case "footer":
        return <Remark key={at} at={at} text={list.footer ?? ""} />;
      case "row": {
        const { index } = entry;
        const row = this.row(entry.part, index);
        return <Row key={at} at={at} index={index} list={list} row={row} active={at === this.active} />;
      }
    }
  }

  private click({ target, clientY }: MouseEvent): void {
    // Rows that were scrolled away while the button was down are gone: then it is where the pointer is.
    const pointed = Math.floor((clientY - this.space.getBoundingClientRect().top) / rowHeight);
    const at = Number((target as Element).closest<HTMLElement>("[data-at]")?.dataset.at ?? pointed);
    if (this.list.entry(at)?.kind === "row") {
      this.active = at;
      this.choose();
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (event.key === "Enter" || event.key === " ") {
      this.choose();
      event.preventDefault();
      return;
    }
    if (/^[0-9]$/.test(event.key)) {
      this.select(Number(event.key));
      return;
    }
    const pageRows = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 1);
    const next = this.list.move(this.active, event.key, pageRows);
    if (next !== undefined) {
      this.active = next;
      this.reveal(next);
      this.draw();
      const entry = this.list.entry(next);
      const row = entry?.kind === "row" ? this.row(entry.part, entry.index) : undefined;
      if (row !== undefined) {
        this.speak(row.spoken);
      }
    }
    if (/^(Arrow(Up|Down)|Page|Home|End)/.test(event.key)) {
      event.preventDefault();
    }
  }

  private reveal(at: number): void {
    const top = at * rowHeight;
    // Its heading comes along when it is the first of its list.
    const above = this.list.entry(at - 1)?.kind === "heading" ? rowHeight : 0;
    if (top - above < this.scroller.scrollTop) {
      this.scroller.scrollTop = top - above;
    } else if (top + rowHeight > this.scroller.scrollTop + this.scroller.clientHeight) {
      this.scroller.scrollTop = top + rowHeight - this.scroller.clientHeight;
    }
  }

  private choose(): void {
    const entry = this.list.entry(this.active);
    const row = entry?.kind === "row" ? this.row(entry.part, entry.index) : undefined;
    if (row !== undefined) {
      this.select(row.number);
    }
  }

  private select(number: number): void {
    if (this.model !== undefined) {
      this.send({ type: "select", revision: this.model.revision, number });
    }
  }
}
