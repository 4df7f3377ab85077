/** One transaction's way on a timeline across threads and processes. */
import type { TransactionsOpened } from "../core/protocol";
import { typesWithWays, type WayLane, wayPicture, waysOf, wayText } from "../core/transactions/ways";
import { h } from "./dom";

const widest = 64;

export class WayView {
  readonly element = h("section", { attrs: { "aria-label": "One transaction", id: "wayPart" } });
  private readonly types = h("select", { attrs: { id: "wayType", "aria-label": "Type" } });
  private readonly ways = h("select", { attrs: { id: "way", "aria-label": "Transaction, the slowest first" } });
  private readonly drawing = h("div", { attrs: { id: "lanes", tabindex: "0", role: "group" } });
  private readonly says = h("p", { class: "quiet", attrs: { role: "status", id: "wayText" } });
  private opened: TransactionsOpened | undefined;
  private zoom = 1;

  /** `chosen` is told the type whose transaction is shown. */
  constructor(private readonly chosen: (type: string) => void) {
    this.types.addEventListener("change", () => this.choose(this.types.value));
    this.ways.addEventListener("change", () => this.draw());
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
    this.types.replaceChildren(...names.map((name) => h("option", { text: name, attrs: { value: name } })));
    const button = (text: string, title: string, by: number) =>
      h("button", { class: "plain", text, title, onclick: () => this.scale(by) });
    this.element.replaceChildren(
      title,
      h(
        "div",
        { class: "line" },
        ...[this.types, this.ways],
        ...[button("−", "Zoom out ( − )", 0.5), button("+", "Zoom in ( + )", 2)],
      ),
      this.says,
      this.drawing,
    );
    this.choose(first);
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
    this.draw();
    return true;
  }

  private draw(): void {
    const { opened } = this;
    const way = opened === undefined ? undefined : waysOf(opened, this.types.value)[Number(this.ways.value)];
    if (way === undefined) {
      return;
    }
    const picture = wayPicture(way, 800 * this.zoom);
    const ruler = picture.ticks.map((tick) =>
      h("span", { class: "tick", text: tick.text, style: { "--left": String(tick.left) } }),
    );
    this.says.textContent = picture.summary;
    this.drawing.setAttribute("aria-label", `${picture.summary} Plus and minus zoom.`);
    this.drawing.style.setProperty("--zoom", String(this.zoom));
    this.drawing.replaceChildren(
      h(
        "div",
        { class: "lane ruler", attrs: { "aria-hidden": "true" } },
        h("span", { class: "who" }),
        h("div", { class: "track" }, ...ruler),
      ),
      ...picture.lanes.map(laneHtml),
    );
  }

  private scale(by: number): void {
    this.zoom = Math.min(Math.max(this.zoom * by, 1), widest);
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const by = { "+": 2, "=": 2, "-": 0.5 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      this.scale(by);
    }
  }
}

function laneHtml(lane: WayLane): HTMLElement {
  const bars = lane.bars.map((bar) =>
    h("span", {
      class: `stay look${bar.look}`,
      text: bar.stage,
      title: bar.spoken,
      attrs: { role: "img", "aria-label": bar.spoken },
      style: { "--left": String(bar.left), "--width": String(bar.width) },
    }),
  );
  return h(
    "div",
    { class: "lane" },
    h(
      "span",
      { class: "who", title: `${lane.name}, ${lane.numbers}` },
      h("span", { text: lane.name }),
      h("small", { text: lane.numbers }),
    ),
    h("div", { class: "track" }, ...bars),
  );
}
