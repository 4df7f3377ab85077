/** A call path whose functions lead to the source. */
import type { PathPart } from "../core/transactions/paths";
import { h } from "./dom";

/** Its parts, functions as links; `go` is told a function. */
export function pathHtml(parts: readonly PathPart[], go: (name: string) => void): (HTMLElement | string)[] {
  return parts.map(({ text, name }) =>
    name === null
      ? text
      : h("button", { class: "link", text, title: `Go to ${name}`, onclick: () => go(name), data: { frame: name } }),
  );
}
