/** The refine loop's page: the iterations' table, as it grows. */
import type { FromRefine, RefineModel, RefineRow, ToRefine } from "../core/trace/refine";
import { byId, connect, h } from "./dom";

const vscode = connect<FromRefine, ToRefine>(({ model }) => show(model));
const send = (message: FromRefine) => vscode.postMessage(message);

function show(model: RefineModel): void {
  const focused = document.activeElement?.id;
  byId("page").replaceChildren(
    h("h1", { text: model.title }),
    h("div", { class: "quiet", text: model.command }),
    ...progress(model),
    ...(model.rows.length === 0 ? [] : [table(model)]),
    ...hotspots(model),
    ...(model.notes.length === 0 ? [] : [h("ul", { class: "notes" }, ...model.notes.map((text) => h("li", { text })))]),
  );
  if (focused) {
    document.getElementById(focused)?.focus();
  }
}

function progress(model: RefineModel): HTMLElement[] {
  const says = h("span", {
    class: model.state === "failed" ? "trouble" : "",
    text: model.message,
    attrs: { role: "status", "aria-live": "polite", id: "says" },
  });
  if (model.state === "going") {
    const bar = h("div", { class: "progress" }, h("div", { style: { width: `${model.fraction * 100}%` } }));
    const cancel = button("cancel", "Stop and keep what there is", () => send({ type: "cancel" }), "plain");
    return [h("div", { class: "line" }, cancel, says), bar];
  }
  const again = button("again", "Refine Again", () => send({ type: "again" }), "main");
  const filter = button("filter", "Open Filter", () => send({ type: "filter" }), "plain");
  return [h("div", { class: "line" }, again, ...(model.filter === null ? [] : [filter])), h("p", {}, says)];
}

function button(id: string, text: string, onclick: () => void, kind: string): HTMLElement {
  return h("button", { class: kind, text, onclick, attrs: { id } });
}

function table({ rows }: RefineModel): HTMLElement {
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
  return h(
    "table",
    { attrs: { "aria-label": "Iterations" } },
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows.map((row, n) => line(row, rows[n - 1]))),
  );
}

function line(row: RefineRow, before: RefineRow | undefined): HTMLElement {
  const cell = (text: string) => h("td", { text });
  const open = h("button", {
    class: "link",
    text: row.going ? `${row.number}, going on` : `${row.number}`,
    title: "Open this iteration's trace",
    onclick: () => send({ type: "open", run: row.run }),
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
    h("ul", { class: "hotspots" }, ...model.hotspots.map((text) => h("li", { text }))),
  ];
}

send({ type: "ready" });
