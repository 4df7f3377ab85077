/** Labels in the Navigator: those of the path, what it shares with each, and what all of them cover. */
import type { CurrentModel } from "../core/navigator/current";
import type { FromNavigator } from "../core/navigator/messages";
import type { CoverageModel } from "../core/navigator/model";
import { h } from "./dom";
import { dot } from "./navigatorRows";

type Send = (message: FromNavigator) => void;

/** A label of the current path, with a way to take it away. */
export function tagOf(name: string, index: number, send: Send): HTMLElement {
  const text = `Take the label ${name} from this path`;
  return h("span", { class: "tag" }, dot(index), h("span", { text: name }), remove(text, name, "unlabel", send));
}

export function overlapsOf(current: CurrentModel, send: Send): HTMLElement {
  return h(
    "section",
    { class: "overlaps", attrs: { "aria-label": "Overlap of this path with labels" } },
    h("h2", { text: "Overlap with labels" }),
    ...current.overlaps.map((overlap) =>
      h(
        "div",
        { class: "metric", title: `${overlap.label}: ${overlap.text}` },
        h("span", { class: "what" }, dot(overlap.index), show(overlap.label, send)),
        h("span", {
          class: `bar label-${overlap.index % 8}${overlap.negative ? " less" : ""}`,
          style: { "--share": String(overlap.width) },
          attrs: { role: "img", "aria-label": `${overlap.label}: ${overlap.text}` },
        }),
        h("strong", { class: "share", text: overlap.share }),
      ),
    ),
    current.apart === null ? null : h("p", { class: "quiet apart", text: current.apart, title: current.apart }),
    current.unlabelled === null ? null : h("p", { class: "quiet", text: current.unlabelled }),
  );
}

export function coverageOf(coverage: CoverageModel, send: Send): HTMLElement {
  return h(
    "section",
    { class: "coverage", attrs: { "aria-label": "Coverage by labels" } },
    h("h2", { text: coverage.text }),
    h(
      "div",
      { class: "stack", attrs: { role: "img", "aria-label": coverage.description } },
      ...coverage.segments.map((segment) =>
        h("span", {
          class: `label-${segment.index % 8}${segment.negative ? " less" : ""}`,
          title: segment.text,
          style: { "--share": String(segment.width) },
        }),
      ),
    ),
    h(
      "ul",
      { class: "legend" },
      ...coverage.segments.map((segment) =>
        h(
          "li",
          { title: segment.text },
          dot(segment.index),
          show(segment.label, send),
          h("span", { class: "quiet", text: segment.share }),
          remove(`Remove the label ${segment.label}`, segment.label, "remove", send),
        ),
      ),
    ),
    coverage.gain === null ? null : h("p", { class: "quiet", text: coverage.gain }),
  );
}

function show(label: string, send: Send): HTMLElement {
  return h("button", {
    class: "link",
    text: label,
    title: `Go to ${label}`,
    onclick: () => send({ type: "label", name: label, action: "show" }),
  });
}

function remove(text: string, name: string, action: "remove" | "unlabel", send: Send): HTMLElement {
  return h("button", {
    class: "icon",
    text: "×",
    title: text,
    attrs: { "aria-label": text },
    onclick: () => send({ type: "label", name, action }),
  });
}
