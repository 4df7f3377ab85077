/** Reports what the user is shown, when it is shown. Tests observe the extension by it; nothing else listens. */
import type { Marks } from "./marks";

/** Which results marks come from. */
export type MarksSource = "causal" | "profile";

export type Shown =
  | { kind: "message"; text: string }
  /** The status bar item's text; null: the item is hidden. */
  | { kind: "status"; text: string | null }
  /** The rows of a view, or something else whose content the listener knows how to read. */
  | { kind: "view" }
  /** A page has loaded and answers. */
  | { kind: "pageReady" }
  /** What a page shows from now on. */
  | { kind: "page"; message: unknown }
  /** The marks in an editor. */
  | { kind: "marks"; source: MarksSource; uri: string; marks: Marks }
  /** Whether the marks are what the engine says about the documents as they are now. */
  | { kind: "settled"; source: MarksSource; settled: boolean };

type Listener = (shown: Shown) => void;

const listeners = new Set<Listener>();

export function onDidShow(listener: Listener): { dispose(): void } {
  listeners.add(listener);
  return { dispose: () => listeners.delete(listener) };
}

export function didShow(shown: Shown): void {
  for (const listener of [...listeners]) {
    listener(shown);
  }
}
