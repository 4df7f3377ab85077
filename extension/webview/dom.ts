/** Makes elements without HTML in strings, because names of functions are full of `<` and `&`. */
import type { Answered, Remember } from "../core/page";
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

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) {
    throw new Error(`The page has no element ${id}.`);
  }
  return element as T;
}

interface VsCode<Out> {
  postMessage(message: Out): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi<Out>(): VsCode<Out>;

/** The extension, as the page sees it. Called once in a page. */
export function connect<Out, In extends { type: string }>(receive: (message: In) => void): VsCode<Out> {
  const vscode = acquireVsCodeApi<Out>();
  // The first message says that the page is ready. It is answered like all others.
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
