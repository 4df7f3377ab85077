/** The refine loop's page: the iterations' table, as it grows. */
import { type FromRefine, type Hotspot, type RefineModel, type RefineRow, refineSays, type ToRefine } from "../core/trace/refine";
import { byId, connect, h, notesList } from "./dom";
import { ProgressBar } from "./progress";

const vscode = connect<FromRefine, ToRefine>(({ model }) => show(model));
const send = (message: FromRefine) => vscode.postMessage(message);

// A loop tells something new twice a second: what the mouse or the focus is on stays where it is.
const title = h("h1");
const command = h("div", { class: "quiet" });
const says = h("span", { attrs: { role: "status", "aria-live": "polite", id: "says" } });
const cancel = button("cancel", "Stop and keep what there is", () => send({ type: "cancel" }), "plain");
const bar = new ProgressBar("Refining");
const again = button("again", "Refine Again", () => send({ type: "again" }), "main");
const filter = button("filter", "Open Filter", () => send({ type: "filter" }), "plain");
const top = h("div");
const body = h("tbody");
const iterations = table();
const end = h("div");
let built: RefineModel["state"] | undefined;

function show(model: RefineModel): void {
  const text = refineSays(model);
  if (says.textContent !== text) {
    says.textContent = text;
  }
  cancel.disabled = model.stopping;
  bar.set(model.fraction);
  rows(model.rows);
  iterations.hidden = model.rows.length === 0;
  if (model.state !== built) {
    built = model.state;
    build(model);
  }
}

function build(model: RefineModel): void {
  title.textContent = model.title;
  command.textContent = model.command;
  says.className = model.state === "failed" ? "trouble" : "";
  filter.hidden = model.filter === null;
  top.replaceChildren(
    ...(model.state === "going"
      ? [h("div", { class: "line" }, cancel, says), bar.element]
      : [h("div", { class: "line" }, again, filter), h("p", {}, says)]),
  );
  end.replaceChildren(...hotspots(model), ...notesList(model.notes));
}

function button(id: string, text: string, onclick: () => void, kind: string): HTMLButtonElement {
  return h("button", { class: kind, text, onclick, attrs: { id } });
}

function table(): HTMLElement {
  const heads = [
    ["Iteration", "", "text"],
    ["Methods", "Methods with probes"],
    ["Classes", "Classes of these methods"],
    ["Probes fired", "Calls of these methods"],
    ["Metered", "Calls that were measured: a method that is known to be no hotspot switches itself off"],
    ["Time a unit", "Wall time of a unit of work"],
    ["Overhead", "What instrumentation adds, with a 95 % interval"],
    ["Hotspots", "Methods that the rule keeps"],
    ["Re-checked", "Excluded methods that were looked at again"],
    ["", ""],
  ] as const;
  const head = heads.map(([text, title, kind = ""]) => h("th", { text, title, class: kind, attrs: { scope: "col" } }));
  return h("table", { attrs: { "aria-label": "Iterations" } }, h("thead", {}, h("tr", {}, ...head)), body);
}

function rows(all: readonly RefineRow[]): void {
  const focused = document.activeElement?.id;
  for (const [n, row] of all.entries()) {
    const wanted = line(row, all[n - 1]);
    const there = body.rows[n];
    if (there === undefined) {
      body.append(wanted);
      continue;
    }
    there.className = wanted.className;
    for (const [at, cell] of [...wanted.cells].entries()) {
      if (there.cells[at]?.isEqualNode(cell) === false) {
        there.cells[at]?.replaceWith(cell);
      }
    }
  }
  // The iteration in which a loop was stopped is no row of its result.
  for (const gone of [...body.rows].slice(all.length)) {
    gone.remove();
  }
  if (focused && document.activeElement?.id !== focused) {
    document.getElementById(focused)?.focus();
  }
}

function line(row: RefineRow, before: RefineRow | undefined): HTMLTableRowElement {
  const cell = (text: string) => h("td", { text });
  const open = h("button", {
    class: "link",
    text: row.going ? `${row.number}, going on` : `${row.number}`,
    title: "Open this iteration's trace",
    onclick: () => send({ type: "open", run: row.run }),
    // Several runs make an iteration: another one is another button.
    data: { run: row.run },
    attrs: { "aria-label": `Open the trace of iteration ${row.number}`, id: `open-${row.number}` },
  });
  const compare =
    before === undefined || row.going
      ? []
      : [
          h("button", {
            class: "link",
            text: "compare",
            title: `Compare with iteration ${before.number}`,
            onclick: () => send({ type: "compare", before: before.run, after: row.run }),
            attrs: {
              id: `compare-${row.number}`,
              "aria-label": `Compare iteration ${row.number} with ${before.number}`,
            },
          }),
        ];
  return h(
    "tr",
    { class: row.going ? "going" : "" },
    h("td", { class: "text" }, open),
    cell(row.methods),
    cell(row.classes),
    cell(row.fired),
    h("td", {}, h("span", { class: "bar", style: { "--share": String(row.share) } }), row.metered),
    cell(row.unit),
    cell(row.overhead),
    cell(row.hotspots),
    cell(row.rechecked),
    h("td", { class: "text" }, ...compare),
  );
}

function hotspots(model: RefineModel): HTMLElement[] {
  if (model.state !== "done" || model.hotspots.length === 0) {
    return [];
  }
  return [
    h("h1", { text: "Hotspots" }),
    h("ul", { class: "hotspots" }, ...model.hotspots.map(hotspot)),
  ];
}

function hotspot({ method, text }: Hotspot): HTMLElement {
  const onclick = () => send({ type: "source", method });
  return h("li", {}, h("button", { class: "link", text, title: "Go to its source", onclick }));
}

byId("page").replaceChildren(title, command, top, iterations, end);
send({ type: "ready" });
