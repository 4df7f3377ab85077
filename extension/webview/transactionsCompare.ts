/** Two runs of transactions compared: their types side by side. */
import type {
  ComparedCell,
  ComparedRow,
  ComparedTypes,
  FromTransactionsCompare,
  ToTransactionsCompare,
} from "../core/transactions/compare";
import { byId, connect, h } from "./dom";

const vscode = connect<FromTransactionsCompare, ToTransactionsCompare>(receive);
const send = (message: FromTransactionsCompare) => vscode.postMessage(message);

const heads: readonly (readonly [string, string, string])[] = [
  ["Type", "The request, or the path that its transactions took", "text"],
  ["Count A / B", "Transactions that threads worked for under its name", ""],
  ["CPU of one, A", "Mean CPU time of a transaction in A", ""],
  ["B", "Mean CPU time of a transaction in B", ""],
  ["Δ CPU", "A less B, each transaction being an observation", ""],
  ["Wall of one, A", "Mean wall time in A of those that began under its name", ""],
  ["B", "Mean wall time in B of those that began under its name", ""],
  ["Δ wall", "A less B, each transaction being an observation", ""],
];

function receive(message: ToTransactionsCompare): void {
  switch (message.type) {
    case "loading":
      byId("page").replaceChildren(
        h("h1", { text: `${message.a} − ${message.b}` }),
        h("p", { class: "quiet", text: message.message, attrs: { role: "status" } }),
      );
      break;
    case "trouble":
      byId("page").replaceChildren(
        h("p", { class: "trouble", text: message.text, attrs: { role: "alert" } }),
        button("Try Again", { type: "again" }, "again"),
      );
      break;
    case "show":
      show(message.compared);
      break;
  }
}

function show(compared: ComparedTypes): void {
  const head = heads.map(([text, title, kind]) => h("th", { text, title, class: kind, attrs: { scope: "col" } }));
  const attrs = { id: "compared", "aria-label": "Types in both runs" };
  byId("page").replaceChildren(
    h("h1", { text: "Two runs of transactions compared" }),
    h("div", { class: "quiet" }, "A: ", link(compared.a, { type: "run", side: "a" }), ", the run that is looked at"),
    h("div", { class: "quiet" }, "B: ", link(compared.b, { type: "run", side: "b" }), ", the one before"),
    h(
      "div",
      { class: "line" },
      h("span", { text: compared.summary, attrs: { role: "status", id: "summary" } }),
      button("Swap", { type: "swap" }, "swap"),
    ),
    h("table", { attrs }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...compared.rows.map(line))),
    ...(compared.notes.length === 0
      ? []
      : [h("h2", { text: "Notes" }), h("ul", { class: "notes" }, ...compared.notes.map((text) => h("li", { text })))]),
  );
}

function line(row: ComparedRow): HTMLElement {
  const title = row.in === "both" ? "Compare in the Navigator" : "Search in the Navigator";
  const name = h("button", {
    class: "link",
    text: row.name,
    title,
    onclick: () => send({ type: "compare", of: row.name, in: row.in }),
  });
  return h(
    "tr",
    { attrs: { "aria-label": row.spoken }, data: { type: row.name } },
    h("td", { class: "text name" }, name),
    h("td", { text: `${row.countA} / ${row.countB}` }),
    h("td", { text: row.cpuA }),
    h("td", { text: row.cpuB }),
    difference(row.cpu),
    h("td", { text: row.wallA }),
    h("td", { text: row.wallB }),
    difference(row.wall),
  );
}

/** A difference that may be noise is said to be, not only greyed. */
function difference({ text, verdict, title }: ComparedCell): HTMLElement {
  const noise = verdict === "noise" ? h("span", { class: "small", text: " noise" }) : null;
  return h("td", { class: verdict ?? "", title }, text, noise);
}

function link(text: string, message: FromTransactionsCompare): HTMLElement {
  return h("button", { class: "link", text, title: "Open this run", onclick: () => send(message) });
}

function button(text: string, message: FromTransactionsCompare, id: string): HTMLElement {
  return h("button", { class: "plain", text, onclick: () => send(message), attrs: { id } });
}

send({ type: "ready" });
