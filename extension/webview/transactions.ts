/** A transactional profile: types, crosstalk, stages, one transaction, notes. */
import type { TransactionsOpened } from "../core/protocol";
import type { FromTransactions, ToTransactions } from "../core/transactions/messages";
import { summaryText } from "../core/transactions/types";
import { byId, connect, h } from "./dom";
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
const crosstalk = new CrosstalkView(go);
const diagram = new DiagramView(go);
const way = new WayView((type) => types.mark(type), go);

function receive(message: ToTransactions): void {
  switch (message.type) {
    case "opening":
      opening(message.title, message.message);
      break;
    case "trouble":
      byId("page").replaceChildren(
        h("p", { class: "trouble", text: message.text, attrs: { role: "alert" } }),
        again("Try Again"),
      );
      break;
    case "show":
      show(message.title, message.opened);
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
  byId("page").replaceChildren(
    h("h1", { text: title }),
    h("p", { class: "quiet", text, attrs: { role: "status", id: "opening" } }),
    h("button", { class: "plain", text: "Cancel", onclick: () => send({ type: "cancel" }), attrs: { id: "cancel" } }),
  );
}

function show(title: string, opened: TransactionsOpened): void {
  const { shown } = opened;
  types.show(shown);
  crosstalk.show(opened.crosstalk);
  diagram.show(opened);
  way.show(opened);
  byId("page").replaceChildren(
    h("h1", { text: title }),
    h(
      "div",
      { class: "line" },
      h("span", { text: summaryText(shown, opened.crosstalk.waitNs), attrs: { role: "status", id: "summary" } }),
      again("Read Again"),
    ),
    ...[types.element, crosstalk.element, diagram.element, way.element],
    ...(shown.notes.length === 0 ? [] : [notes(shown.notes)]),
  );
}

function notes(all: readonly string[]): HTMLElement {
  const list = h("ul", { class: "notes" }, ...all.map((text) => h("li", { text })));
  return h("section", { attrs: { "aria-label": "Notes", id: "notesPart" } }, h("h2", { text: "Notes" }), list);
}

function again(text: string): HTMLElement {
  return h("button", { class: "plain", text, onclick: () => send({ type: "again" }), attrs: { id: "again" } });
}

send({ type: "ready" });
