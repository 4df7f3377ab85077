/** A call path whose functions lead to the source. */
import type { VNode } from "preact";
import type { PathPart } from "../../core/transactions/paths";
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
