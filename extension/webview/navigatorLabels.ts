/** Labels in the Navigator: those of the path, what it shares with each, and what all of them cover. */
import type { CurrentModel, OverlapModel } from "../core/navigator/current";
import type { FromNavigator } from "../core/navigator/messages";
import type { CoverageModel, CoverageSegment } from "../core/navigator/model";
import { h } from "./dom";
import { longList } from "./longList";
import { dot } from "./navigatorRows";

type Send = (message: FromNavigator) => void;

/** A label of the current path, with a way to take it away. */
function tagOf(name: string, index: number, send: Send): HTMLElement {
  const text = `Take the label ${name} from this path`;
  return h("span", { class: "tag" }, dot(index), h("span", { text: name }), remove(text, name, "unlabel", send));
}

/** The labels of the current path, and more ways to go from it. */
export function tagsOf(current: CurrentModel, send: Send, more: HTMLElement[]): HTMLElement {
  const { labels } = current;
  const entry = (index: number) => {
    const { name, index: position } = labels[index] ?? { name: "", index: -1 };
    return tagOf(name, position, send);
  };
  const list = { class: "tags", label: "Labels of this path", count: labels.length, entry };
  const tags = longList(list, (tags) => h("div", { class: "labels" }, ...tags, ...more));
  return tags.classList.contains("long") ? h("div", {}, tags, h("div", { class: "labels" }, ...more)) : tags;
}

export function overlapsOf(current: CurrentModel, send: Send): HTMLElement {
  const { overlaps } = current;
  const entry = (index: number) => overlapOf(overlaps[index], send);
  const list = { class: "shared", label: "Overlap with each label", count: overlaps.length, entry };
  return h(
    "section",
    { class: "overlaps", attrs: { "aria-label": "Overlap of this path with labels" } },
    h("h2", { text: "Overlap with labels" }),
    longList(list, (entries) => h("div", {}, ...entries)),
    current.apart === null ? null : h("p", { class: "quiet apart", text: current.apart, title: current.apart }),
    current.unlabelled === null ? null : h("p", { class: "quiet", text: current.unlabelled }),
  );
}

function overlapOf(overlap: OverlapModel | undefined, send: Send): HTMLElement {
  if (overlap === undefined) {
    return h("div");
  }
  return h(
    "div",
    { class: "metric", title: `${overlap.label}: ${overlap.text}` },
    h("span", { class: "what" }, dot(overlap.index), show(overlap.label, send)),
    h("span", {
      class: `bar label-${overlap.index % 8}${overlap.negative ? " less" : ""}`,
      style: { "--share": String(overlap.width) },
      attrs: { role: "img", "aria-label": `${overlap.label}: ${overlap.text}` },
    }),
    h("strong", { class: "share", text: overlap.share }),
  );
}

export function coverageOf(coverage: CoverageModel, send: Send): HTMLElement {
  const { segments } = coverage;
  const entry = (index: number) => segmentOf(segments[index], send);
  const list = { class: "covering", label: "What each label covers", count: segments.length, entry };
  return h(
    "section",
    { class: "coverage", attrs: { "aria-label": "Coverage by labels" } },
    h("h2", { text: coverage.text }),
    h(
      "div",
      { class: "stack", attrs: { role: "img", "aria-label": coverage.description } },
      ...coverage.bar.map((segment) =>
        h("span", {
          class: `label-${segment.index % 8}${segment.negative ? " less" : ""}`,
          title: segment.text,
          style: { "--share": String(segment.width) },
        }),
      ),
    ),
    longList(list, (entries) =>
      h("ul", { class: "legend" }, ...entries.map((entry) => h("li", { title: entry.title }, ...entry.childNodes))),
    ),
    coverage.gain === null ? null : h("p", { class: "quiet", text: coverage.gain }),
  );
}

function segmentOf(segment: CoverageSegment | undefined, send: Send): HTMLElement {
  if (segment === undefined) {
    return h("div");
  }
  return h(
    "div",
    { class: "segment", title: segment.text },
    dot(segment.index),
    show(segment.label, send),
    h("span", { class: "quiet", text: segment.share }),
    remove(`Remove the label ${segment.label}`, segment.label, "remove", send),
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
