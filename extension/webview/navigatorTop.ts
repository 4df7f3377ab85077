/** Above the rows: the profile, how to suggest, the history, the current path with its costs, labels and overlap. */
import type { CurrentModel, MetricModel } from "../core/navigator/current";
import type { FromNavigator } from "../core/navigator/messages";
import type { NavigatorModel } from "../core/navigator/model";
import { h, notesList, profileTitle } from "./dom";
import { coverageOf, overlapsOf, tagsOf } from "./navigatorLabels";

type Send = (message: FromNavigator) => void;

export function headerOf(model: NavigatorModel, send: Send): HTMLElement[] {
  const run = (command: string) => () => send({ type: "run", command: `fulcrum.navigator.${command}` });
  const total = model.totals === null ? "" : `${model.totals}; `;
  return [
    h(
      "div",
      { class: "line" },
      profileTitle("strong", model.title),
      model.severalValues
        ? h("button", { class: "link", text: `${model.value} ▾`, title: "Value type (V)", onclick: run("value") })
        : h("span", { class: "quiet", text: model.value }),
    ),
    h("div", { class: "quiet", text: `${total}${model.shares}` }),
    h(
      "div",
      { class: "line tools" },
      h(
        "span",
        { class: "group", attrs: { role: "group", "aria-label": "Suggester" } },
        choice("HighCum", model.suggester === "HighCum", "Suggest from the top (U changes)", send, "toggleSuggester"),
        choice(
          "HighBase",
          model.suggester === "HighBase",
          "Suggest from the bottom (U changes)",
          send,
          "toggleSuggester",
        ),
      ),
      choice("Zoom", model.zoom, "Leave out what costs little (Z)", send, "toggleZoom"),
      model.zoom
        ? h("button", {
            class: "link quiet",
            text: `cutoff ${model.cutoff}`,
            title: "What zooming keeps (C)",
            onclick: run("cutoff"),
          })
        : null,
    ),
    crumbsOf(model, send),
  ];
}

function choice(text: string, on: boolean, title: string, send: Send, command: string): HTMLElement {
  // The suggester that is on suggests anew.
  const name = on && command === "toggleSuggester" ? "suggest" : command;
  return h("button", {
    class: on ? "choice on" : "choice",
    text,
    title,
    attrs: { "aria-pressed": String(on) },
    onclick: () => send({ type: "run", command: `fulcrum.navigator.${name}` }),
  });
}

function crumbsOf(model: NavigatorModel, send: Send): HTMLElement {
  const icon = (text: string, title: string, command: string, enabled: boolean) => {
    const button = h("button", {
      class: "icon",
      text,
      title,
      attrs: { "aria-label": title },
      onclick: () => send({ type: "run", command: `fulcrum.navigator.${command}` }),
    });
    button.disabled = !enabled;
    return button;
  };
  return h(
    "nav",
    { class: "line crumbs", attrs: { "aria-label": "History" } },
    icon("←", "Back (Backspace)", "back", model.canBack),
    icon("→", "Forward (Shift+Backspace)", "forward", model.canForward),
    h(
      "ol",
      {},
      ...model.crumbs.map((crumb) =>
        h(
          "li",
          {},
          h("button", {
            class: crumb.current ? "link current" : "link",
            text: crumb.text,
            title: crumb.title,
            attrs: crumb.current ? { "aria-current": "step" } : {},
            onclick: () => send({ type: "goTo", revision: model.revision, at: crumb.at }),
          }),
        ),
      ),
    ),
  );
}

export function topOf(model: NavigatorModel, send: Send): HTMLElement[] {
  const { current, coverage, notes } = model;
  return [
    ...(current === null ? [] : [pathOf(current, send), metrics(current, model)]),
    ...(current === null || current.unlabelled === null ? [] : [overlapsOf(current, send)]),
    ...(coverage === null ? [] : [coverageOf(coverage, send)]),
    ...notesList(notes),
  ];
}

function pathOf(current: CurrentModel, send: Send): HTMLElement {
  const link = (text: string, title: string, command: string) =>
    h("button", { class: "link", text, title, onclick: () => send({ type: "run", command }) });
  return h(
    "section",
    { attrs: { "aria-label": "Current path" } },
    h(
      "ol",
      { class: "path" },
      ...current.frames.map((frame) =>
        h(
          "li",
          {},
          h("button", {
            class: frame.recorded === null ? "link searched" : "link",
            text: frame.short,
            title: `${frame.name}\n${frame.recorded ?? "Looks for its definition in the workspace"}`,
            onclick: () => send({ type: "frame", name: frame.name }),
          }),
        ),
      ),
    ),
    tagsOf(current, send, [
      link("+ Label", "Label this path (L)", "fulcrum.navigator.label"),
      link("Flame graph", "This path, merged over all its contexts (M)", "fulcrum.navigator.flamePath"),
    ]),
  );
}

function metrics(current: CurrentModel, model: NavigatorModel): HTMLElement {
  return h(
    "section",
    { class: "metrics", attrs: { "aria-label": "Cost of the current path" } },
    ...[current.base, current.cum].map((metric) => metricOf(metric, model)),
    ...[current.paradox, current.limit].map((text) => (text === null ? null : h("p", { class: "quiet", text }))),
  );
}

function metricOf(metric: MetricModel, model: NavigatorModel): HTMLElement {
  const { sides, certainty } = metric;
  const said = [
    `${metric.name}, ${metric.meaning}: ${metric.share} ${model.denominator}`,
    ...(sides === null ? [metric.cost] : [`A ${sides.a}`, `B ${sides.b}`, `difference ${sides.delta}`]),
    ...(certainty === null ? [] : [certainty.text]),
  ].join(", ");
  const bar = (width: number, kind: string) => h("span", { class: `bar ${kind}`, style: { "--share": String(width) } });
  const mark = certainty?.significant === true ? "●" : "○";
  return h(
    "div",
    { class: "metric", title: said, attrs: { role: "img", "aria-label": said } },
    h("span", { class: "what", text: metric.name }),
    sides === null
      ? bar(metric.width, metric.negative ? "less" : metric.name.toLowerCase())
      : h("span", { class: "pair" }, bar(sides.aWidth, "side-a"), bar(sides.bWidth, "side-b")),
    h("strong", { class: "share", text: metric.share }),
    h("span", {
      class: "cost quiet",
      text: sides === null ? metric.cost : `A ${sides.a} − B ${sides.b} = ${sides.delta}`,
    }),
    certainty === null ? null : h("span", { class: "cost quiet", text: `${mark} ${certainty.text}` }),
  );
}

/** The keys, where the eye finds them. */
export function hintsOf(model: NavigatorModel, send: Send): HTMLElement[] {
  const key = (name: string, text: string) => h("span", {}, h("kbd", { text: name }), ` ${text}`);
  const keys =
    model.current === null
      ? [key("↵", "select"), key("U", "suggester"), key("/", "find"), key("B", "find bottlenecks")]
      : [
          ...[key("E", "extend"), key("T", "trim"), key("L", "label"), key("⌫", "back")],
          ...[key("Z", "zoom"), key("S", "suggest")],
        ];
  const all = h("button", {
    class: "link",
    text: "all keys",
    title: "Every key of the Navigator (?)",
    onclick: () => send({ type: "run", command: "fulcrum.navigator.keys" }),
  });
  return [...keys, all];
}
