/** A trace's page: toolbar, keys and texts around {@link TraceTree} and {@link Timeline}. */
import { render, type VNode } from "preact";
import type { EventsHit, EventsOrder, EventsPlace, EventsQueueOrder } from "../../core/engine/protocol";
import { CallValues } from "../../core/trace/callValues";
import { stateLooks, traceTheme } from "../../core/trace/colours";
import type { FromTrace, ToTrace, TraceShown } from "../../core/trace/messages";
import { partOf, spokenOf, type TraceRow, timeOf } from "../../core/trace/rows";
import { byId, connect } from "../dom";
import { Later } from "../settled";
import { themeKind, themeReader } from "../theme";
import { ProgressBar } from "../ui";
import { Timeline } from "./traceTimeline";
import { TraceTree } from "./traceTree";

const vscode = connect<FromTrace, ToTrace>(receive);
const send = (message: FromTrace) => vscode.postMessage(message);
const canvas = byId<HTMLCanvasElement>("drawing");
const text = byId<HTMLInputElement>("text");
const queue = byId<HTMLSelectElement>("queue");
const queueOrder = byId<HTMLSelectElement>("queueOrder");
const tip = byId("tip");
const timeline = new Timeline(canvas, byId("timeline"), byId("lanes"), send);
const values = new CallValues((thread, node) => send({ type: "values", thread, node }));
/** Where the pointer was last over the timeline, on the canvas and in the window. */
let pointer = { offsetX: 0, offsetY: 0, clientX: 0, clientY: 0 };
const tree = new TraceTree(byId("events"), byId("space"), byId("columns"), send, chosen, act);
let shown: TraceShown | undefined;
const searching = new Later(200);
/** Counts the searches, so that late answers to others are known. */
let searches = 0;
/** What the search has found so far, which of it is shown, and where there is more. */
let hits: EventsHit[] = [];
let hit = -1;
let more: EventsPlace | null = null;

function receive(message: ToTrace): void {
  switch (message.type) {
    case "opening":
      tell(
        <>
          <p>{`Opening ${message.title}… ${message.message}`}</p>
          <ProgressBar label="Opening the trace" fraction={message.fraction} />
        </>,
      );
      break;
    case "trouble":
      tell(
        <p class="trouble" role="alert">
          {message.text}
        </p>,
      );
      break;
    case "show":
      show(message.shown, message.round);
      break;
    case "rows":
      tree.receive(message.round, message.wanted, message.rows);
      break;
    case "timeline":
      timeline.receive(message.threads, message.levelsOf, message.timeline);
      break;
    case "found":
      if (message.number === searches) {
        found(message.hits, message.next);
      }
      break;
    case "notFound":
      if (message.number === searches) {
        byId("found").textContent = message.why;
      }
      break;
    case "reveal":
      inTime();
      tree.reveal(message.hit);
      break;
    case "values":
      values.receive(message.thread, message.node, message.text);
      if (!tip.hidden) {
        pointAt();
      }
      break;
  }
}

function tell(what: VNode): void {
  byId("trace").hidden = true;
  byId("message").hidden = false;
  render(what, byId("message"));
}

function show(next: TraceShown, round: number): void {
  if (shown?.trace.id !== next.trace.id) {
    values.clear();
  }
  shown = next;
  byId("message").hidden = true;
  byId("trace").hidden = false;
  const names = next.trace.queues.map(({ put, take }) => `${short(put)} → ${short(take)}`);
  byId("queueing").hidden = names.length === 0;
  render(
    <>
      <option value="-1">none</option>
      {names.map((name, n) => (
        <option key={name} value={n} title={name}>
          {name}
        </option>
      ))}
    </>,
    queue,
  );
  queue.value = String(next.trace.queues.findIndex((it) => it.put === next.queue?.put && it.take === next.queue?.take));
  queue.title = next.queueText ?? "";
  queueOrder.hidden = next.queue === null;
  queueOrder.value = next.queueOrder ?? "";
  byId<HTMLButtonElement>("refine").disabled = !next.canRefine;
  legend();
  timeline.show(next.trace);
  tree.show(next.trace, round, next.queue !== null);
  const notes = [...next.trace.notes, ...(next.queueText === null ? [] : [next.queueText])];
  byId("spoken").textContent = notes.join(" ");
  // There is room for one line.
  byId("spoken").title = notes.join("\n");
  if (document.hasFocus() && (document.activeElement ?? document.body) === document.body) {
    tree.focus();
  }
}

function short(method: string): string {
  return method.split(".").slice(-2).join(".");
}

function legend(): void {
  const theme = traceTheme(themeKind(), themeReader());
  const states = Object.entries(stateLooks).map(([state, look]) => (
    <Key key={state} kind={state} colour={theme.states[state as keyof typeof stateLooks]} text={look.text} />
  ));
  render(
    <>
      {states}
      <Key kind="gc" colour={theme.collection} text="garbage collection" />
    </>,
    byId("legend"),
  );
}

function Key({ kind, colour, text }: { kind: string; colour: string; text: string }): VNode {
  return (
    <span class="key">
      <span class={`swatch ${kind}`} style={{ "--colour": colour }} />
      {text}
    </span>
  );
}

/** The tree has another row, or knows more of its row. The timeline follows who goes somewhere. */
function chosen(row: TraceRow | undefined, led: boolean): void {
  const method = row?.kind === "event" ? row.event.method : null;
  byId<HTMLButtonElement>("source").disabled = method === null;
  for (const id of ["bottlenecks", "filter"]) {
    byId<HTMLButtonElement>(id).disabled = row === undefined;
  }
  if (row === undefined) {
    return;
  }
  byId("spoken").textContent = spokenOf(row);
  byId("spoken").title = "";
  if (led) {
    timeline.mark(row.kind === "thread" ? row.thread.id : row.event.thread, timeOf(row));
  }
}

function nameOf(row: TraceRow): string {
  return row.kind === "thread" ? row.thread.name : row.event.name;
}

/** A key of the tree, or what a button does. True when there is such a thing. */
function act(key: string): boolean {
  const row = tree.selected;
  switch (key) {
    case "Enter":
    case "o":
      if (row?.kind === "event" && row.event.method !== null) {
        send({ type: "source", method: row.event.method, name: row.event.name });
      }
      return true;
    case "b":
      if (row !== undefined) {
        send({ type: "bottlenecks", part: partOf(row), name: nameOf(row) });
      }
      return true;
    case "f":
      if (row !== undefined) {
        send({ type: "filter", part: partOf(row), name: nameOf(row) });
      }
      return true;
    case "z":
      if (row !== undefined) {
        timeline.zoomOn(timeOf(row));
      }
      return true;
    case "Z":
    case "Escape":
      timeline.zoomOut();
      return true;
    case "t":
      canvas.focus();
      return true;
    case "r":
      send({ type: "run", command: "refine" });
      return true;
    default:
      return searchKey(key);
  }
}

function searchKey(key: string): boolean {
  switch (key) {
    case "/":
      text.focus();
      text.select();
      return true;
    case "n":
      goToHit(1);
      return true;
    case "N":
      goToHit(-1);
      return true;
    default:
      return false;
  }
}

function inTime(): void {
  if (tree.ordered !== "time") {
    order("time");
  }
}

function order(id: EventsOrder): void {
  for (const button of byId("tools").querySelectorAll<HTMLElement>("[data-order]")) {
    button.setAttribute("aria-pressed", String(button.dataset.order === id));
  }
  tree.setOrder(id);
}

function search(): void {
  [hits, hit, more] = [[], -1, null];
  searches += 1;
  byId("found").textContent = "";
  const wanted = text.value;
  timeline.search(wanted === "" ? null : wanted.toLowerCase());
  searching.cancel();
  if (wanted !== "") {
    const asked: FromTrace = { type: "search", number: searches, text: wanted, from: null };
    searching.set(() => send(asked));
  }
}

function found(added: readonly EventsHit[], next: EventsPlace | null): void {
  const first = hits.length === 0;
  hits = [...hits, ...added];
  more = next;
  if (hits.length === 0) {
    byId("found").textContent = "nothing";
  } else if (first) {
    goToHit(1);
  } else {
    say();
  }
}

function say(): void {
  byId("found").textContent = `${hit + 1} of ${hits.length}${more === null ? "" : "+"}`;
}

function goToHit(by: 1 | -1): void {
  if (hits.length === 0) {
    return;
  }
  hit = (hit + by + hits.length) % hits.length;
  if (hit === hits.length - 1 && more !== null) {
    send({ type: "search", number: searches, text: text.value, from: more });
    more = null;
  }
  const wanted = hits[hit];
  if (wanted !== undefined) {
    say();
    inTime();
    tree.reveal(wanted);
  }
}

text.addEventListener("input", search);
text.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    text.value = "";
    search();
    tree.focus();
    event.preventDefault();
  } else if (event.key === "Enter") {
    tree.focus();
    event.preventDefault();
  }
});
byId("tools").addEventListener("click", ({ target }) => {
  const id = (target as HTMLElement).dataset.order;
  if (id !== undefined) {
    order(id as EventsOrder);
  }
});
for (const part of [queue, queueOrder]) {
  part.addEventListener("change", () => {
    const order = queueOrder.value === "" ? null : (queueOrder.value as EventsQueueOrder);
    send({ type: "queue", queue: shown?.trace.queues[Number(queue.value)] ?? null, order });
  });
}
byId("refine").addEventListener("click", () => send({ type: "run", command: "refine" }));
byId("compare").addEventListener("click", () => send({ type: "run", command: "compare" }));
for (const [id, key] of [
  ["source", "o"],
  ["bottlenecks", "b"],
  ["filter", "f"],
] as const) {
  byId(id).addEventListener("click", () => act(key));
}

const timelineKeys: Record<string, () => void> = {
  ArrowUp: () => timeline.step(-1),
  ArrowDown: () => timeline.step(1),
  ArrowLeft: () => timeline.panByShare(-0.2),
  ArrowRight: () => timeline.panByShare(0.2),
  "+": () => timeline.zoomBy(0.5),
  "=": () => timeline.zoomBy(0.5),
  "-": () => timeline.zoomBy(2),
  Home: () => timeline.zoomOut(),
  Escape: () => timeline.zoomOut(),
};
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  if (event.key === "Enter" && timeline.chosen !== undefined) {
    tree.goToThread(timeline.chosen);
    tree.focus();
  } else if (timelineKeys[event.key] !== undefined) {
    timelineKeys[event.key]?.();
    byId("spoken").textContent = timeline.chosen === undefined ? "" : timeline.nameOf(timeline.chosen);
  } else if (!act(event.key)) {
    return;
  }
  event.preventDefault();
});
let dragged: { x: number; moved: boolean } | undefined;
canvas.addEventListener("pointerdown", (event) => {
  dragged = { x: event.offsetX, moved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", ({ offsetX, offsetY }) => {
  const moved = dragged?.moved === true;
  dragged = undefined;
  const at = moved ? undefined : timeline.at(offsetX, offsetY);
  if (at?.call !== undefined) {
    send({ type: "find", thread: at.call.thread, node: at.call.node });
  } else if (at !== undefined) {
    tree.goToThread(at.thread);
  }
});
canvas.addEventListener("dblclick", ({ offsetX, offsetY }) => {
  const call = timeline.at(offsetX, offsetY)?.call;
  if (call !== undefined) {
    timeline.zoomOn({ left: call.start, right: call.end });
  }
});
canvas.addEventListener("pointermove", (event) => {
  const { offsetX, offsetY, clientX, clientY } = event;
  if (dragged !== undefined && (dragged.moved || Math.abs(offsetX - dragged.x) > 4)) {
    timeline.panBy(dragged.x - offsetX);
    dragged = { x: offsetX, moved: true };
    tip.hidden = true;
    return;
  }
  pointer = { offsetX, offsetY, clientX, clientY };
  pointAt();
});
/** Says what is under the pointer: a call with its values, or what a thread does. */
function pointAt(): void {
  const { offsetX, offsetY, clientX, clientY } = pointer;
  const at = timeline.at(offsetX, offsetY);
  tip.hidden = at === undefined;
  if (at === undefined) {
    return;
  }
  const { call } = at;
  tip.textContent =
    call === undefined ? timeline.stateAt(offsetX, at.thread) : `${call.name}${values.of(call.thread, call.node)}`;
  tip.style.left = `${Math.max(4, Math.min(clientX + 12, document.body.clientWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${clientY + 18}px`;
}
canvas.addEventListener("mouseleave", () => {
  tip.hidden = true;
});
canvas.addEventListener(
  "wheel",
  (event) => {
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      timeline.zoomBy(1.002 ** event.deltaY, event.offsetX);
      event.preventDefault();
    } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      timeline.panBy(sideways);
      event.preventDefault();
    }
  },
  { passive: false },
);

const split = byId("split");
const leastHeight = 60;
const mostHeight = () => Math.max(leastHeight, document.body.clientHeight - 180);
function resize(height: number): void {
  const fitting = Math.max(leastHeight, Math.min(height, mostHeight()));
  byId("timeline").style.setProperty("flex-basis", `${fitting}px`);
  timeline.drawSoon();
  tree.drawSoon();
}
new ResizeObserver(() => {
  split.setAttribute("aria-valuemin", String(leastHeight));
  split.setAttribute("aria-valuemax", String(mostHeight()));
  split.setAttribute("aria-valuenow", String(byId("timeline").clientHeight));
}).observe(byId("timeline"));
split.addEventListener("pointerdown", (event) => split.setPointerCapture(event.pointerId));
split.addEventListener("pointermove", (event) => {
  if (split.hasPointerCapture(event.pointerId)) {
    resize(event.clientY - byId("timeline").getBoundingClientRect().top);
  }
});
split.addEventListener("keydown", (event) => {
  const by = { ArrowUp: -20, ArrowDown: 20 }[event.key];
  if (by !== undefined) {
    resize(byId("timeline").clientHeight + by);
    event.preventDefault();
  }
});

// The editor changes the body's class with the theme.
new MutationObserver(() => {
  legend();
  timeline.drawSoon();
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });
send({ type: "ready" });
