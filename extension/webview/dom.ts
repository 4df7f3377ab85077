/** Making elements without HTML in strings: names of functions are full of `<` and `&`. */
import { type FoldedNote, foldNotes, moreText } from "../core/notes";
import type { Answered, Remember } from "../core/page";
import { against, cutNames, titleHover } from "../core/titles";
import { begin } from "./settled";

type Child = Node | string | null;

interface Props {
  class?: string;
  title?: string;
  text?: string;
  onclick?: (event: MouseEvent) => void;
  attrs?: Record<string, string>;
  data?: Record<string, string>;
  /** CSS properties, custom ones too: set one by one, which a policy against inline styles allows. */
  style?: Record<string, string>;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (props.class !== undefined) {
    element.className = props.class;
  }
  if (props.title !== undefined) {
    element.title = props.title;
  }
  if (props.text !== undefined) {
    element.textContent = props.text;
  }
  if (props.onclick !== undefined) {
    element.addEventListener("click", props.onclick as EventListener);
  }
  for (const [name, value] of Object.entries(props.attrs ?? {})) {
    element.setAttribute(name, value);
  }
  Object.assign(element.dataset, props.data);
  for (const [name, value] of Object.entries(props.style ?? {})) {
    element.style.setProperty(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A profile's title: where there is too little room, what the names have in common goes. */
export function profileTitle(tag: "strong" | "span", title: string, kind = ""): HTMLElement {
  const parts = cutNames(title).flatMap(({ head, kept, tail }, n) => [
    h("span", { text: n === 0 ? "" : against }),
    h("span", { class: "head", text: head }),
    h("span", { text: kept }),
    h("span", { class: "tail", text: tail }),
  ]);
  return h(tag, { class: `title ${kind}`.trim(), title: titleHover(title) }, ...parts);
}

/** Notes, each with what is more than a sentence folded, and the last of many. */
export function notesList(notes: readonly string[]): HTMLElement[] {
  const { shown, more } = foldNotes(notes);
  const items = (all: readonly FoldedNote[]) =>
    all.map(({ begins, rest }) =>
      rest === "" ? h("li", { text: begins }) : h("li", {}, folded(begins, h("span", { text: rest }))),
    );
  if (shown.length === 0) {
    return [];
  }
  const last = more.length === 0 ? [] : [h("li", {}, folded(moreText(more), h("ul", {}, ...items(more))))];
  return [h("ul", { class: "notes" }, ...items(shown), ...last)];
}

function folded(begins: string, rest: HTMLElement): HTMLElement {
  return h("details", {}, h("summary", { text: begins }), rest);
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) {
    throw new Error(`The page has no element ${id}.`);
  }
  return element as T;
}

/** Draws anew what has the focus, perhaps: what stands in its place then has it. */
export function keepingFocus(draw: () => void): void {
  const before = document.activeElement;
  const top = document.scrollingElement?.scrollTop ?? 0;
  draw();
  if (before instanceof HTMLElement && before !== document.body && document.activeElement !== before) {
    const data = Object.entries(before.dataset).map(
      ([name, value]) => `[${attribute(name)}="${CSS.escape(value ?? "")}"]`,
    );
    const selector =
      before.id !== "" ? `#${CSS.escape(before.id)}` : data.length === 0 ? null : before.tagName + data.join("");
    const after = before.isConnected
      ? before
      : selector === null
        ? null
        : document.querySelector<HTMLElement>(selector);
    after?.focus({ preventScroll: true });
    document.scrollingElement?.scrollTo({ top });
  }
}

/** `data-key`, of `key`. */
function attribute(name: string): string {
  return `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

interface VsCode<Out> {
  postMessage(message: Out): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi<Out>(): VsCode<Out>;

/** The extension, as the page sees it. Once a page only. */
export function connect<Out, In extends { type: string }>(receive: (message: In) => void): VsCode<Out> {
  const vscode = acquireVsCodeApi<Out>();
  // The first that is sent says that the page is there. It is answered like all others.
  const unanswered: (() => void)[] = [];
  let asked = 0;
  window.addEventListener("message", ({ data }: MessageEvent<In | Remember | Answered>) => {
    if (isWire(data)) {
      if (data.type === "answered") {
        unanswered.shift()?.();
      } else {
        vscode.setState(data.state);
      }
    } else {
      receive(data);
    }
  });
  return {
    ...vscode,
    postMessage: (message) => {
      unanswered.push(begin());
      asked += 1;
      document.body.dataset.asked = String(asked);
      vscode.postMessage(message);
    },
  };
}

function isWire(message: { type: string }): message is Remember | Answered {
  return message.type === "remember" || message.type === "answered";
}
