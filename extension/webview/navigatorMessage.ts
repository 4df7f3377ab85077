/** What the Navigator shows while there is nothing to search: how to begin, how far opening is, what went wrong. */
import type { FromNavigator, NavigatorShown } from "../core/navigator/messages";
import { h } from "./dom";

type Send = (message: FromNavigator) => void;
type Message = Exclude<NavigatorShown, { kind: "open" }>;

export function messageOf(shown: Message, send: Send): HTMLElement[] {
  const button = (text: string, message: FromNavigator, secondary = false) =>
    h("button", { class: secondary ? "main wide secondary" : "main wide", text, onclick: () => send(message) });
  switch (shown.kind) {
    case "empty":
      return [
        h("p", { text: "Find the call sequences that cost the most, in any profile of any size." }),
        button("Open Profile…", { type: "run", command: "fulcrum.profile.open" }),
        ...(shown.again === null
          ? []
          : [button(`Open ${shown.again} Again`, { type: "run", command: "fulcrum.profile.openAgain" }, true)]),
        h("p", {
          class: "quiet",
          text: "pprof, folded stacks, perf, cpuprofile, Chrome trace, speedscope, Firefox, JFR, callgrind and more: the format is found by content.",
        }),
        h("p", {
          class: "quiet",
          text: "To compare two, choose Select Profile for Compare on the one before the change in the explorer, then Compare with Selected Profile on the other.",
        }),
      ];
    case "opening":
      return opening(shown, button("Cancel", { type: "cancel" }, true));
    case "trouble":
      return [
        h("p", { class: "trouble", text: shown.text, attrs: { role: "alert" } }),
        button("Open Another…", { type: "run", command: "fulcrum.profile.open" }),
        ...(shown.again ? [button("Try Again", { type: "run", command: "fulcrum.profile.openAgain" }, true)] : []),
      ];
  }
}

function opening(shown: Extract<Message, { kind: "opening" }>, cancel: HTMLElement): HTMLElement[] {
  const percent = shown.fraction === null ? null : Math.round(shown.fraction * 100);
  const attrs = { role: "progressbar", "aria-label": `Opening ${shown.title}` };
  return [
    h("p", { text: `Opening ${shown.title}…` }),
    h(
      "div",
      {
        class: percent === null ? "progress unknown" : "progress",
        attrs: percent === null ? attrs : { ...attrs, "aria-valuenow": String(percent) },
      },
      h("div", { style: { width: `${percent ?? 30}%` } }),
    ),
    h("p", { class: "quiet", text: shown.message }),
    cancel,
  ];
}
