/** A transactional profile: types, crosstalk, stages, one transaction, notes. */
import type { TransactionsOpened } from "../../core/engine/protocol";
import type { FromTransactions, ToTransactions } from "../../core/transactions/messages";
import { summaryText } from "../../core/transactions/types";
import { byId, connect, h, keepingFocus } from "../dom";
import { CrosstalkView } from "./transactionsCrosstalk";
import { DiagramView } from "./transactionsDiagram";
import { TypeTable } from "./transactionsTypes";
import { WayView } from "./transactionsWay";

const vscode = connect<FromTransactions, ToTransactions>(receive);
const send = (message: FromTransactions) => vscode.postMessage(message);

const go = (name: string) => send({ type: "frame", name });
const types = new TypeTable(
  (type) => void way.choose(type),
  (action, of) => send({ type: "of", action, of }),
  go,
);
const crosstalk = new CrosstalkView(go, (pair) => send({ type: "price", pair }));
const diagram = new DiagramView(go);
const way = new WayView((type) => types.mark(type), go);

/** How the recording stands; hidden when there is none. Read aloud only when one goes there: it changes all the time. */
const standing = h("span", { attrs: { id: "standing" } });
const live = h(
  "div",
  { class: "line", attrs: { id: "live", role: "group", "aria-label": "The recording" } },
  h("strong", { text: "Recording" }),
  standing,
  h("button", {
    class: "plain",
    text: "Stop",
    title: "End the recording and the program, and keep what was recorded",
    onclick: () => send({ type: "stop" }),
    attrs: { id: "stop" },
  }),
);
live.hidden = true;
/** The run whose tables the page has. */
let drawn: string | undefined;

function receive(message: ToTransactions): void {
  switch (message.type) {
    case "opening":
      opening(message.title, message.message);
      break;
    case "trouble":
      drawn = undefined;
      byId("page").replaceChildren(
        h("p", { class: "trouble", text: message.text, attrs: { role: "alert" } }),
        again("Try Again"),
      );
      break;
    case "show":
      keepingFocus(() => show(message.title, message.opened));
      break;
    case "live":
      followed(message.text);
      break;
  }
}

/** Says how far it is; the button stays the same, so that it keeps the focus. */
function opening(title: string, text: string): void {
  const status = document.getElementById("opening");
  if (status !== null) {
    status.textContent = text;
    return;
  }
  drawn = undefined;
  byId("page").replaceChildren(
    h("h1", { text: title }),
    live,
    h("p", { class: "quiet", text, attrs: { role: "status", id: "opening" } }),
    h("button", { class: "plain", text: "Cancel", onclick: () => send({ type: "cancel" }), attrs: { id: "cancel" } }),
  );
}

function show(title: string, opened: TransactionsOpened): void {
  const { shown } = opened;
  types.show(shown);
  crosstalk.show(opened.crosstalk);
  diagram.show(opened);
  // Whoever looks at a transaction while more are recorded goes on looking at it.
  if (live.hidden || drawn !== title || !way.isLookedAt) {
    way.show(opened);
  }
  drawn = title;
  byId("page").replaceChildren(
    h("h1", { text: title }),
    live,
    h(
      "div",
      { class: "line" },
      h("span", { text: summaryText(shown, opened.crosstalk.waitNs), attrs: { role: "status", id: "summary" } }),
      again("Read Again"),
    ),
    ...[types.element, crosstalk.element, diagram.element, way.element],
    ...(shown.notes.length === 0 ? [] : [notes(shown.notes)]),
  );
  offerAgain();
}

/** A recording is read again by itself. */
function offerAgain(): void {
  const button = document.getElementById("again");
  if (button !== null) {
    button.hidden = !live.hidden;
  }
}

function followed(text: string | null): void {
  live.hidden = text === null;
  standing.textContent = text;
  offerAgain();
}

function notes(all: readonly string[]): HTMLElement {
  const list = h("ul", { class: "notes" }, ...all.map((text) => h("li", { text })));
  return h("section", { attrs: { "aria-label": "Notes", id: "notesPart" } }, h("h2", { text: "Notes" }), list);
}

function again(text: string): HTMLElement {
  return h("button", { class: "plain", text, onclick: () => send({ type: "again" }), attrs: { id: "again" } });
}

send({ type: "ready" });
