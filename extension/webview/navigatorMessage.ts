/** What the Navigator shows while there is nothing to search: how to begin, how far opening is, what went wrong. */
import type { FromNavigator, NavigatorShown } from "../core/navigator/messages";
import { h } from "./dom";
import { ProgressBar } from "./progress";

type Send = (message: FromNavigator) => void;
type Message = Exclude<NavigatorShown, { kind: "open" }>;

/** The place of the message. Opening tells often how far it is: that changes in place, for its button may be pressed. */
export class Messages {
  private opening: Opening | undefined;

  constructor(
    private readonly place: HTMLElement,
    private readonly send: Send,
  ) {}

  show(shown: Message): void {
    if (shown.kind !== "opening") {
      this.opening = undefined;
      this.place.replaceChildren(...messageOf(shown, this.send));
      return;
    }
    if (this.opening?.title !== shown.title) {
      this.opening = new Opening(shown.title);
      const cancel = button("Cancel", true, () => this.send({ type: "cancel" }));
      this.place.replaceChildren(...this.opening.elements, cancel);
    }
    this.opening.tell(shown.fraction, shown.message);
  }
}

/** How far opening is. */
class Opening {
  private readonly bar: ProgressBar;
  private readonly text = h("p", { class: "quiet" });

  constructor(readonly title: string) {
    this.bar = new ProgressBar(`Opening ${title}`);
  }

  get elements(): HTMLElement[] {
    return [h("p", { text: `Opening ${this.title}…` }), this.bar.element, this.text];
  }

  tell(fraction: number | null, message: string): void {
    this.bar.set(fraction);
    this.text.textContent = message;
  }
}

function button(text: string, secondary: boolean, onclick: () => void): HTMLElement {
  return h("button", { class: secondary ? "main wide secondary" : "main wide", text, onclick });
}

function messageOf(shown: Exclude<Message, { kind: "opening" }>, send: Send): HTMLElement[] {
  const runs = (text: string, command: string, secondary = false) =>
    button(text, secondary, () => send({ type: "run", command }));
  switch (shown.kind) {
    case "empty":
      return [
        h("p", { text: "Find the call sequences that cost the most, in any profile of any size." }),
        runs("Open Profile…", "fulcrum.profile.open"),
        ...(shown.again === null ? [] : [runs(`Open ${shown.again} Again`, "fulcrum.profile.openAgain", true)]),
        h("p", {
          class: "quiet",
          text: "pprof, folded stacks, perf, cpuprofile, Chrome trace, speedscope, Firefox, JFR, callgrind and more: the format is found by content.",
        }),
        h("p", {
          class: "quiet",
          text: "To compare two, choose Select Profile for Compare on the one before the change in the explorer, then Compare with Selected Profile on the other.",
        }),
      ];
    case "trouble":
      return [
        h("p", { class: "trouble", text: shown.text, attrs: { role: "alert" } }),
        runs("Open Another…", "fulcrum.profile.open"),
        ...(shown.again ? [runs("Try Again", "fulcrum.profile.openAgain", true)] : []),
      ];
  }
}
