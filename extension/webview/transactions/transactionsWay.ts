/** One transaction's way on a timeline across threads and processes. */
import type { TransactionsOpened } from "../../core/engine/protocol";
import {
  drawnText,
  typesWithWays,
  type WayBar,
  type WayLane,
  type WayPicture,
  wayPicture,
  waysOf,
  wayText,
} from "../../core/transactions/ways";
import { h } from "../dom";

const widest = 256;
const keys =
  "Left and right follow the transaction, up and down change the thread, plus and minus zoom, 0 shows all of it, Page Up and Page Down scroll, Enter goes to the source.";

export class WayView {
  readonly element = h("section", { attrs: { "aria-label": "One transaction", id: "wayPart" } });
  private readonly types = h("select", { attrs: { id: "wayType", "aria-label": "Type" } });
  private readonly ways = h("select", { attrs: { id: "way", "aria-label": "Transaction, the slowest first" } });
  private readonly drawing = h("div", { attrs: { id: "lanes", tabindex: "0", role: "group" } });
  private readonly says = h("p", { class: "quiet", attrs: { role: "status", id: "wayText" } });
  private opened: TransactionsOpened | undefined;
  private picture: WayPicture | undefined;
  private zoom = 1;
  /** The stay that has the focus, by its place in the way. */
  private at = 0;

  /** `chosen` is told the type whose transaction is shown, `go` a function whose source is wanted. */
  constructor(
    private readonly chosen: (type: string) => void,
    private readonly go: (name: string) => void,
  ) {
    this.types.addEventListener("change", () => this.choose(this.types.value));
    this.ways.addEventListener("change", () => this.begin());
    this.drawing.addEventListener("keydown", (event) => this.key(event));
  }

  show(opened: TransactionsOpened): void {
    this.opened = opened;
    const names = typesWithWays(opened);
    const title = h("h2", { text: "One Transaction" });
    const [first] = names;
    if (first === undefined) {
      const text =
        "No transaction began in a recorded process. Record the program that accepts the requests, and send it some.";
      this.element.replaceChildren(title, h("p", { class: "quiet", text }));
      return;
    }
    const before = this.types.value;
    this.types.replaceChildren(...names.map((name) => h("option", { text: name, attrs: { value: name } })));
    const button = (text: string, title: string, by: number) =>
      h("button", { class: "plain", text, title, onclick: () => this.scale(by) });
    this.element.replaceChildren(
      title,
      h(
        "div",
        { class: "line" },
        ...[this.types, this.ways],
        ...[
          button("−", "Zoom out ( − )", 0.5),
          button("+", "Zoom in ( + )", 2),
          button("All", "Show all of it ( 0 )", 0),
        ],
      ),
      this.says,
      this.drawing,
    );
    this.choose(names.includes(before) ? before : first);
  }

  /** Whether somebody is at it: has the focus in it, has zoomed, or chosen another than the slowest. */
  get isLookedAt(): boolean {
    return this.zoom !== 1 || this.ways.selectedIndex > 0 || this.element.contains(document.activeElement);
  }

  /** Shows the slowest of a type; false when none of it is known. */
  choose(type: string): boolean {
    const { opened } = this;
    const ways = opened === undefined ? [] : waysOf(opened, type);
    if (ways.length === 0) {
      return false;
    }
    this.types.value = type;
    const options = ways.map((way, n) =>
      h("option", { text: `${n + 1}. ${wayText(way)}`, attrs: { value: String(n) } }),
    );
    this.ways.replaceChildren(...options);
    this.chosen(type);
    this.begin();
    return true;
  }

  /** Another transaction: seen whole, from its beginning. */
  private begin(): void {
    this.zoom = 1;
    this.at = 0;
    this.draw();
  }

  private draw(): void {
    const { opened } = this;
    const way = opened === undefined ? undefined : waysOf(opened, this.types.value)[Number(this.ways.value)];
    if (way === undefined || opened === undefined) {
      return;
    }
    const picture = wayPicture(way, 800 * this.zoom);
    this.picture = picture;
    const ruler = picture.ticks.map((tick) =>
      h("span", { class: "tick", text: tick.text, style: { "--left": String(tick.left) } }),
    );
    const cuts = [picture.cut, drawnText(opened, way.type)].filter((text) => text !== null);
    this.says.textContent = [picture.summary, ...cuts].join(" ");
    this.drawing.setAttribute("aria-label", `${picture.summary} ${keys}`);
    this.drawing.style.setProperty("--zoom", String(this.zoom));
    this.drawing.replaceChildren(
      h(
        "div",
        { class: "lane ruler", attrs: { "aria-hidden": "true" } },
        h("span", { class: "who" }),
        h("div", { class: "track" }, ...ruler),
      ),
      ...picture.lanes.map((lane) => this.lane(lane)),
    );
  }

  private lane(lane: WayLane): HTMLElement {
    return h(
      "div",
      { class: "lane" },
      h(
        "span",
        { class: "who", title: `${lane.name}, ${lane.numbers}` },
        h("span", { text: lane.name }),
        h("small", { text: lane.numbers }),
      ),
      h("div", { class: "track" }, ...lane.bars.map((bar) => this.bar(bar))),
    );
  }

  private bar(bar: WayBar): HTMLElement {
    const { source } = bar;
    return h("span", {
      class: `stay look${bar.look}${source === null ? "" : " source"}`,
      text: bar.stage,
      title: source === null ? bar.spoken : `${bar.spoken}. It came by ${source}: Enter or a double click goes there.`,
      attrs: { role: "img", "aria-label": bar.spoken, tabindex: bar.order === this.at ? "0" : "-1" },
      data: { order: String(bar.order) },
      style: { "--left": String(bar.left), "--width": String(bar.width) },
      onclick: (event) => {
        this.focus(bar.order);
        if (event.detail === 2 && source !== null) {
          this.go(source);
        }
      },
    });
  }

  /** All bars, in the order of the way. */
  private get bars(): WayBar[] {
    return (this.picture?.lanes ?? []).flatMap((lane) => lane.bars).sort((a, b) => a.order - b.order);
  }

  private focus(order: number): void {
    this.at = order;
    for (const bar of this.drawing.querySelectorAll<HTMLElement>(".stay")) {
      const here = bar.dataset.order === String(order);
      bar.tabIndex = here ? 0 : -1;
      if (here) {
        bar.focus({ preventScroll: true });
        bar.scrollIntoView({ block: "nearest", inline: "nearest" });
      }
    }
  }

  /** Zooms around the stay that has the focus; by 0: all is seen. */
  private scale(by: number): void {
    const focused = this.drawing.querySelector(".stay:focus") !== null;
    this.zoom = by === 0 ? 1 : Math.min(Math.max(this.zoom * by, 1), widest);
    this.draw();
    const bar = this.drawing.querySelector<HTMLElement>(`.stay[data-order="${this.at}"]`);
    bar?.scrollIntoView({ block: "nearest", inline: "center" });
    if (focused) {
      bar?.focus({ preventScroll: true });
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const by = { "+": 2, "=": 2, "-": 0.5, "0": 0 }[event.key];
    const screens = { PageDown: 0.9, PageUp: -0.9 }[event.key];
    const to = this.target(event.key);
    if (by !== undefined) {
      this.scale(by);
    } else if (screens !== undefined) {
      this.drawing.scrollBy({ left: screens * this.drawing.clientWidth });
    } else if (to !== undefined) {
      this.focus(to);
    } else if (event.key === "Enter") {
      this.goToSource();
    } else {
      return;
    }
    event.preventDefault();
  }

  private goToSource(): void {
    const source = this.bars.find(({ order }) => order === this.at)?.source ?? null;
    if (source !== null) {
      this.go(source);
    }
  }

  /** Where a key goes to; undefined for any other key. */
  private target(key: string): number | undefined {
    const { bars, at } = this;
    const position = bars.findIndex(({ order }) => order === at);
    const onBar = this.drawing.querySelector(".stay:focus") !== null;
    switch (key) {
      case "ArrowRight":
        return bars[onBar ? Math.min(position + 1, bars.length - 1) : position]?.order;
      case "ArrowLeft":
        return bars[onBar ? Math.max(position - 1, 0) : position]?.order;
      case "Home":
        return bars[0]?.order;
      case "End":
        return bars.at(-1)?.order;
      case "ArrowDown":
        return this.inLane(1);
      case "ArrowUp":
        return this.inLane(-1);
      default:
        return undefined;
    }
  }

  /** The stay of the next thread that is the nearest in time. */
  private inLane(step: number): number {
    const lanes = this.picture?.lanes ?? [];
    const here = lanes.findIndex((lane) => lane.bars.some(({ order }) => order === this.at));
    const from = lanes[here]?.bars.find(({ order }) => order === this.at)?.left ?? 0;
    const bars = lanes[here + step]?.bars ?? [];
    const nearest = [...bars].sort((a, b) => Math.abs(a.left - from) - Math.abs(b.left - from))[0];
    return nearest?.order ?? this.at;
  }
}
