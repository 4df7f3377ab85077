/** Two traces compared: what appeared, vanished, got slower or faster. */
import {
  type DifferenceRow,
  type FromTraceCompare,
  Pages,
  type ToTraceCompare,
  type TraceComparison,
} from "../core/trace/compare";
import { byId, connect, h, notesList } from "./dom";

const vscode = connect<FromTraceCompare, ToTraceCompare>(receive);
const send = (message: FromTraceCompare) => vscode.postMessage(message);
const body = h("tbody");
const more = h("button", { class: "plain", text: "Show More", attrs: { id: "more" } });
const pages = new Pages();

function receive(message: ToTraceCompare): void {
  switch (message.type) {
    case "loading":
      byId("page").replaceChildren(
        h("h1", { text: `${message.a} − ${message.b}` }),
        h("p", { class: "quiet", text: message.message, attrs: { role: "status" } }),
      );
      break;
    case "trouble":
      byId("page").replaceChildren(h("p", { class: "trouble", text: message.text, attrs: { role: "alert" } }));
      break;
    case "show":
      show(message.comparison, message.rows);
      break;
    case "more":
      add(message.from, message.rows);
      break;
  }
}

function show(comparison: TraceComparison, rows: readonly DifferenceRow[]): void {
  pages.begin(comparison.total);
  const heads = [
    ["Change", "What became of it from B to A", "text"],
    ["Call", "The call, what it is below, and the threads that make it", "text"],
    ["Calls A / B", "How often", ""],
    ["A a call", "Mean wall time of a call in A", ""],
    ["B a call", "Mean wall time of a call in B", ""],
    ["Δ self, all calls", "Own wall time of all calls in A less that in B", ""],
  ];
  const head = heads.map(([text, title, kind]) =>
    h("th", { text: text ?? "", title: title ?? "", class: kind ?? "", attrs: { scope: "col" } }),
  );
  body.replaceChildren();
  byId("page").replaceChildren(
    h("h1", { text: "Two traces compared" }),
    h("div", { class: "quiet", text: `A: ${comparison.a}, the trace that is looked at` }),
    h("div", { class: "quiet", text: `B: ${comparison.b}, the one before` }),
    h(
      "div",
      { class: "line" },
      h("span", { text: comparison.summary, attrs: { role: "status", id: "summary" } }),
      h("button", { class: "plain", text: "Swap", onclick: () => send({ type: "swap" }), attrs: { id: "swap" } }),
    ),
    h("div", { class: "quiet", text: `Threads by role (A / B): ${comparison.roles.join(" · ")}` }),
    ...notesList(comparison.notes),
    h("table", { attrs: { "aria-label": "Differences" } }, h("thead", {}, h("tr", {}, ...head)), body),
    more,
  );
  add(0, rows);
}

function add(from: number, rows: readonly DifferenceRow[]): void {
  if (pages.take(from, rows.length)) {
    body.append(...rows.map(line));
    update();
  }
}

function update(): void {
  more.hidden = !pages.more;
  more.disabled = pages.waiting;
  more.textContent = pages.waiting ? "Comparing…" : "Show More";
}

function line(row: DifferenceRow): HTMLElement {
  const { place } = row;
  const name =
    place === null
      ? h("span", { text: row.name })
      : h("button", {
          class: "link",
          text: row.name,
          title: `Show in trace ${place.side.toUpperCase()}`,
          onclick: () => send({ type: "open", ...place }),
        });
  const where = [row.role, row.below].filter((text) => text !== "").join(" · ");
  return h(
    "tr",
    { class: row.change, attrs: { "aria-label": row.spoken } },
    h("td", { class: "text" }, h("span", { class: "change", text: row.changeText })),
    h("td", { class: "text wide" }, name, h("div", { class: "quiet", text: where })),
    h("td", { text: row.calls }),
    h("td", { text: row.a }),
    h("td", { text: row.b }),
    h("td", { text: row.self }),
  );
}

more.addEventListener("click", () => {
  const from = pages.ask();
  update();
  if (from !== undefined) {
    send({ type: "more", from });
  }
});
send({ type: "ready" });
