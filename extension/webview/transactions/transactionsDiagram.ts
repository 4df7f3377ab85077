/** The stage diagram: boxes are threads and stages in their processes, arrows are flows. */
import type { TransactionFlowKind, TransactionsOpened } from "../../core/engine/protocol";
import type { Diagram, DiagramArrow, DiagramBox, DiagramProcess } from "../../core/transactions/diagram";
import { mostBoxes, stageDiagram } from "../../core/transactions/diagram";
import { isFunction } from "../../core/transactions/paths";
import { h } from "../dom";
import { svg } from "../svg";

/** How kinds of flows are told apart without colour, in the order of the legend. */
const kinds: readonly (readonly [TransactionFlowKind, string])[] = [
  ["message", "message"],
  ["memory", "shared memory"],
  ["event", "event"],
  ["stage", "new thread or process, queue of a stage"],
];

/** Pixels of a letter. */
const letter = 7.4;

export class DiagramView {
  readonly element = h("section", { attrs: { "aria-label": "Stages", id: "stagesPart" } });

  /** `go` is told a function whose source is wanted. */
  constructor(private readonly go: (name: string) => void) {}

  show(opened: TransactionsOpened): void {
    const diagram = stageDiagram(opened.shown, opened.ways);
    const title = h("h2", { text: "Stages" });
    if (diagram === null) {
      const text = "Nothing was recorded that could be drawn: no CPU samples, and no flow from one stage to another.";
      this.element.replaceChildren(title, h("p", { class: "quiet", text }));
      return;
    }
    const used = new Set(diagram.arrows.map((arrow) => arrow.kind));
    const says = `Threads with their share of all CPU time, stages, and how often transactions went from one to another. Click a function for its source. At most ${mostBoxes} boxes are drawn; the others are one.`;
    const list = diagram.arrows.map((arrow) => h("li", { text: arrow.spoken }));
    this.element.replaceChildren(
      title,
      h("p", { class: "quiet", text: says }),
      legend(used),
      h("div", { class: "scroll" }, picture(diagram, this.go)),
      h("ul", { class: "unseen" }, ...list),
    );
  }
}

function legend(used: ReadonlySet<TransactionFlowKind>): HTMLElement {
  const keys = kinds
    .filter(([kind]) => used.has(kind))
    .map(([kind, text]) => {
      const line = svg("line", { x1: 0, y1: 6, x2: 34, y2: 6, class: `flow ${kind}` });
      return h("span", { class: "key" }, svg("svg", { width: 34, height: 12, "aria-hidden": "true" }, line), text);
    });
  return h("div", { class: "keys" }, ...keys);
}

function picture(diagram: Diagram, go: (name: string) => void): SVGElement {
  const { width, height, processes, boxes, arrows } = diagram;
  const label = `${boxes.length} stages, ${arrows.length} flows between them`;
  const drawing = svg("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    id: "diagram",
    role: "group",
    "aria-label": label,
  });
  const lines = arrows.map(arrowSvg);
  drawing.append(tip(), ...processes.map(processSvg), ...lines, ...boxes.map((box) => boxSvg(box, drawing, go)));
  // Counts stand above all boxes and lines.
  drawing.append(
    ...arrows.map((arrow) => svg("text", { class: "count", x: arrow.x, y: arrow.y - 3, ...ends(arrow) }, arrow.count)),
  );
  return drawing;
}

function tip(): SVGElement {
  const path = svg("path", { d: "M0 0L8 4L0 8z", class: "tip" });
  const marker = { id: "tip-of-flow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8 };
  return svg("defs", {}, svg("marker", { ...marker, markerUnits: "userSpaceOnUse", orient: "auto" }, path));
}

function processSvg({ name, shareText, x, y, width, height }: DiagramProcess): SVGElement {
  const share = svg("text", { x: x + width - 10, y: y + 17, class: "number" }, shareText);
  const room = width - 28 - letter * shareText.length;
  return svg(
    "g",
    { class: "process" },
    svg("rect", { x, y, width, height, rx: 4 }),
    svg("text", { x: x + 10, y: y + 17 }, cut(name, room), svg("title", {}, name)),
    share,
  );
}

function boxSvg(box: DiagramBox, drawing: SVGElement, go: (name: string) => void): SVGElement {
  const { x, y, width, height, name, share, shareText, spoken } = box;
  const element = svg("g", {
    class: share === null ? "box place" : "box",
    tabindex: 0,
    role: "img",
    "aria-label": spoken,
    "data-id": box.id,
  });
  element.append(svg("title", {}, spoken), svg("rect", { x, y, width, height, rx: 3 }));
  if (share !== null) {
    element.append(
      svg("rect", { x: x + 1, y: y + height - 6, width: Math.max(1, share * (width - 2)), height: 5, class: "share" }),
    );
  }
  const room = width - 20 - letter * shareText.length;
  element.append(
    svg("text", { x: x + 7, y: y + 20 }, cut(name, room)),
    svg("text", { x: x + width - 7, y: y + 20, class: "number" }, shareText),
  );
  const light = (on: boolean) => () => {
    drawing.classList.toggle("lit", on);
    for (const line of drawing.querySelectorAll("[data-from]")) {
      const { from, to } = (line as SVGElement).dataset;
      line.classList.toggle("on", on && (from === box.id || to === box.id));
    }
  };
  // A place is a function; what has a share is a thread.
  if (share === null && isFunction(name)) {
    element.setAttribute("class", "box place source");
    element.addEventListener("click", () => go(name));
    element.addEventListener("keydown", (event) => {
      if ((event as KeyboardEvent).key === "Enter") {
        go(name);
      }
    });
  }
  element.addEventListener("focus", light(true));
  element.addEventListener("blur", light(false));
  element.addEventListener("mouseenter", light(true));
  element.addEventListener("mouseleave", light(false));
  return element;
}

function arrowSvg(arrow: DiagramArrow): SVGElement {
  const attributes = { d: arrow.path, class: `flow ${arrow.kind}`, "marker-end": "url(#tip-of-flow)" };
  const path = svg("path", { ...attributes, "stroke-width": arrow.thickness });
  return svg("g", { class: "arrow", ...ends(arrow) }, svg("title", {}, arrow.spoken), path);
}

function ends(arrow: DiagramArrow) {
  return { "data-from": arrow.from, "data-to": arrow.to };
}

/** As many letters as fit into so many pixels: the end of a name says more than its middle. */
function cut(text: string, pixels: number): string {
  const letters = Math.max(4, Math.floor(pixels / letter));
  if (text.length <= letters) {
    return text;
  }
  const tail = Math.floor((letters - 1) / 2);
  return `${text.slice(0, letters - 1 - tail)}…${text.slice(text.length - tail)}`;
}
