/** A call path whose functions lead to the source. */
import type { VNode } from "preact";
import type { PathPart } from "../../core/transactions/paths";
import { h } from "../dom";
import { Link } from "../ui";

interface Props {
  parts: readonly PathPart[];
  /** Told a function. */
  go: (name: string) => void;
}

/** Its parts, functions as links. */
export function FunctionPath({ parts, go }: Props): VNode {
  return (
    <>
      {parts.map(({ text, name }, n) =>
        name === null ? (
          text
        ) : (
          <Link key={n} title={`Go to ${name}`} data-frame={name} onClick={() => go(name)}>
            {text}
          </Link>
        ),
      )}
    </>
  );
}

/** The same as elements. */
export function pathHtml(parts: readonly PathPart[], go: (name: string) => void): (HTMLElement | string)[] {
  return parts.map(({ text, name }) =>
    name === null
      ? text
      : h("button", { class: "link", text, title: `Go to ${name}`, onclick: () => go(name), data: { frame: name } }),
  );
}
