/** The flame graph's page: toolbar, keys and texts around {@link FlameGraph}. */
import { Fragment, render } from "preact";
import type { NavigatorFlameWidth } from "../../core/engine/protocol";
import type { FlameBoxes } from "../../core/flame/boxes";
import { describeBox } from "../../core/flame/describe";
import { shortName } from "../../core/flame/layout";
import type { FlameShown, FromFlame, ToFlame } from "../../core/flame/messages";
import { indexOf, namesTo, type Place, type SearchDirection } from "../../core/flame/selection";
import { timesText } from "../../core/profiles/recursion";
import { shareText } from "../../core/text/cost";
import { byId, connect } from "../dom";
import { Later } from "../settled";
import { ProfileTitle } from "../ui";
import { FlameGraph, type Selected } from "./flameGraph";
import { Legend } from "./flameLegend";

const vscode = connect<FromFlame, ToFlame>(receive);
const send = (message: FromFlame) => vscode.postMessage(message);
const canvas = byId<HTMLCanvasElement>("canvas");
const text = byId<HTMLInputElement>("text");
const tip = byId("tip");
const graph = new FlameGraph(canvas, byId("scroller"), byId("space"), send, (what) => {
  if (what !== "selection") {
    showTrail();
    selectSomething();
  }
  if (what !== "zoom") {
    speak(graph.selected === undefined ? "" : describe(graph.selected));
  }
});
let shown: FlameShown | undefined;
const searching = new Later(150);

function receive(message: ToFlame): void {
  switch (message.type) {
    case "show":
      show(message.shown);
      break;
    case "nothing":
      showNothing(message.text);
      break;
    case "tile":
      if (message.generation === shown?.generation) {
        graph.receive(message.tile);
      }
      break;
    case "failed":
      if (message.generation === shown?.generation) {
        graph.failed(message.need);
      }
      break;
    case "found":
      if (message.generation === shown?.generation && message.text === text.value) {
        byId("found").textContent = message.summary;
      }
      break;
    case "current":
      if (shown !== undefined) {
        shown.currentPath = message.path;
        byId<HTMLButtonElement>("merged").disabled = message.path === null && shown.path === null;
        // What could not be had while another profile was opened is asked for again.
        graph.drawSoon();
      }
      break;
    case "focus":
      canvas.focus();
      break;
    case "trouble":
      speak(message.text);
      break;
  }
}

/** Speaks a text, but not the same one twice in a row. */
function speak(words: string): void {
  const spoken = byId("spoken");
  if (spoken.textContent !== words) {
    spoken.textContent = words;
  }
}

function show(next: FlameShown): void {
  shown = next;
  byId("nothing").hidden = true;
  const merged = next.path !== null;
  press("tree", !merged);
  press("merged", merged);
  byId<HTMLButtonElement>("merged").disabled = next.currentPath === null && !merged;
  byId("widths").hidden = !next.comparison;
  for (const button of byId("widths").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.width === next.width));
  }
  render(<Legend shown={next} />, byId("legend"));
  graph.show(next);
  showTrail();
  if (text.value !== "") {
    search();
  }
}

/** Shown over the graph, which stays: the same one may come back after a restart of the engine. */
function showNothing(words: string): void {
  byId("nothing").textContent = words;
  byId("nothing").hidden = false;
}

/** While the canvas has the focus, something is selected as soon as there is a box. */
function selectSomething(): void {
  if (graph.selected === undefined && document.activeElement === canvas) {
    graph.move("ArrowDown");
  }
}

function press(id: string, on: boolean): void {
  byId(id).setAttribute("aria-pressed", String(on));
}

function describe({ section, place }: Selected): string {
  const boxes = graph.boxes(section);
  const box = boxes === undefined ? -1 : indexOf(boxes, place);
  if (boxes === undefined || box < 0) {
    return "";
  }
  const label = shown?.labels[boxes.label[box] ?? -1] ?? null;
  return describeBox({
    name: nameOf({ section, place }),
    times: boxes.times[box] ?? 1,
    cost: boxes.cost[box] ?? 0,
    own: boxes.own[box] ?? 0,
    against: boxes.against?.[box] ?? null,
    caller: section === "callers",
    label,
    total: graph.total(section),
    unit: shown?.unit ?? "",
  });
}

function nameOf({ section, place }: Selected): string {
  const boxes = graph.boxes(section);
  const box = boxes === undefined ? -1 : indexOf(boxes, place);
  return boxes?.nameOf(box) ?? "";
}

function timesOf(boxes: FlameBoxes, place: Place): number {
  return boxes.times[indexOf(boxes, place)] ?? 1;
}

/** The call path of a box, outermost name first. */
function pathOf({ section, place }: Selected): string[] {
  const boxes = graph.boxes(section);
  if (boxes === undefined) {
    return [];
  }
  const names = namesTo(boxes, place);
  const path = shown?.path ?? [];
  switch (section) {
    case "callers":
      return [...names.slice(1).reverse(), ...path];
    case "callees":
      return [...path, ...names.slice(1)];
    case "tree":
      // Row 0 is the whole profile, not a function.
      return names.slice(1);
  }
}

/** Does something with the path of the selected box. The whole profile, a process and a thread have none. */
function withPath(use: (path: string[]) => void): void {
  const { selected } = graph;
  if (selected === undefined) {
    return;
  }
  const path = isFunction(selected) ? pathOf(selected) : [];
  if (path.length === 0) {
    speak(`${nameOf(selected)} is not a function, so it has no path: select a box further in.`);
  } else {
    use(path);
  }
}

function isFunction({ section, place }: Selected): boolean {
  const boxes = graph.boxes(section);
  const box = boxes === undefined ? -1 : indexOf(boxes, place);
  return boxes !== undefined && box >= 0 && !boxes.isContainer(box) && (section !== "tree" || place.row > 0);
}

function showTrail(): void {
  const { zoom } = graph;
  const boxes = zoom === undefined ? undefined : graph.boxes(zoom.section);
  const trail = byId("trail");
  if (zoom === undefined || boxes === undefined) {
    render(<ProfileTitle title={shown?.title ?? ""} quiet />, trail);
    return;
  }
  const last = zoom.places.length - 1;
  const steps = zoom.places.map((place, depth) => {
    const name = shortName(nameOf({ section: zoom.section, place })) + timesText(timesOf(boxes, place));
    const share = depth === last ? ` ${shareText(place.width)}` : "";
    return (
      <Fragment key={depth}>
        <span class="quiet">›</span>
        <button type="button" onClick={() => graph.zoomIn({ section: zoom.section, place })}>
          {`${name}${share}`}
        </button>
      </Fragment>
    );
  });
  render(
    <>
      <button type="button" onClick={() => graph.reset()}>
        {shown?.title ?? "All"}
      </button>
      {steps}
    </>,
    trail,
  );
}

function search(): void {
  const wanted = text.value.toLowerCase();
  graph.search(wanted === "" ? null : (name) => name.toLowerCase().includes(wanted));
  byId("found").textContent = "";
  searching.cancel();
  if (wanted !== "" && shown !== undefined) {
    const { generation } = shown;
    searching.set(() => send({ type: "search", generation, text: text.value }));
  }
}

function nextMatch(direction: SearchDirection): void {
  if (!graph.nextMatch(direction)) {
    speak(`No box of this picture has ${text.value} in its name.`);
  }
}

function clearSearch(): void {
  text.value = "";
  search();
  canvas.focus();
}

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  const actions: Record<string, () => void> = {
    Enter: () => graph.zoomIn(),
    Escape: () => {
      if (!graph.zoomOut() && text.value !== "") {
        clearSearch();
      }
    },
    Home: () => graph.reset(),
    "/": () => text.focus(),
    n: () => nextMatch("forwards"),
    N: () => nextMatch("backwards"),
    o: () => withPath((path) => send({ type: "source", name: path.at(-1) ?? "" })),
    p: () => withPath((path) => send({ type: "select", path })),
    m: () => withPath((path) => send({ type: "merge", path: path.slice(-1) })),
    t: () => send({ type: "tree" }),
  };
  if (/^Arrow/.test(event.key)) {
    graph.move(event.key as "ArrowUp");
  } else if (actions[event.key] === undefined) {
    return;
  } else {
    actions[event.key]?.();
  }
  event.preventDefault();
});

canvas.addEventListener("focus", selectSomething);
canvas.addEventListener("click", ({ offsetX, offsetY }) => graph.select(graph.at(offsetX, offsetY)));
canvas.addEventListener("dblclick", () => graph.zoomIn());
canvas.addEventListener("mouseleave", () => {
  tip.hidden = true;
});
canvas.addEventListener("mousemove", ({ offsetX, offsetY, clientX, clientY }) => {
  const over = graph.at(offsetX, offsetY);
  tip.hidden = over === undefined;
  if (over !== undefined) {
    tip.textContent = describe(over);
    const right = Math.min(clientX + 12, document.body.clientWidth - tip.offsetWidth - 8);
    const below = clientY + 18 + tip.offsetHeight < document.body.clientHeight;
    tip.style.left = `${Math.max(4, right)}px`;
    tip.style.top = `${below ? clientY + 18 : clientY - tip.offsetHeight - 8}px`;
  }
});
canvas.addEventListener(
  "wheel",
  (event) => {
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      graph.wheel(event.offsetX, event.offsetY, 1.002 ** event.deltaY, 0);
      event.preventDefault();
    } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      graph.wheel(event.offsetX, event.offsetY, 1, sideways);
      event.preventDefault();
    }
  },
  { passive: false },
);

text.addEventListener("input", search);
text.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    clearSearch();
    event.preventDefault();
  } else if (event.key === "Enter") {
    canvas.focus();
    nextMatch("forwards");
    event.preventDefault();
  }
});
byId("tree").addEventListener("click", () => send({ type: "tree" }));
byId("merged").addEventListener("click", () => {
  if (shown?.currentPath != null) {
    send({ type: "merge", path: shown.currentPath });
  }
});
byId("widths").addEventListener("click", ({ target }) => {
  const width = (target as HTMLElement).dataset.width;
  if (width !== undefined) {
    send({ type: "width", width: width as NavigatorFlameWidth });
  }
});

// The editor changes the body's class with the theme.
new MutationObserver(() => {
  if (shown !== undefined) {
    render(<Legend shown={shown} />, byId("legend"));
  }
  graph.drawSoon();
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });
send({ type: "ready" });
