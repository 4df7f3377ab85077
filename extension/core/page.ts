/** A webview's page, as the extension sees it. No `vscode` in here: `vscode.Webview` is a {@link Webview}. */
import { troubleOf } from "./engine/errors";
import { didShow } from "./shown";

interface Webview<From> {
  postMessage(message: unknown): PromiseLike<boolean>;
  onDidReceiveMessage(listener: (message: From) => unknown): { dispose(): void };
}

/** What the page keeps, so that the editor can give it back after the window was reloaded. */
export interface Remember {
  type: "remember";
  state: unknown;
}

/** One more of the page's messages was handled. What it led to was sent before. */
export interface Answered {
  type: "answered";
}

/** A page's messages, other than that it is ready. */
export type Question<From> = Exclude<From, { type: "ready" }>;

/**
 * The link to a page. Messages sent before the page is ready wait for it. Once the page is closed, nothing is sent and
 * nothing fails, even if somebody still works for it.
 */
export class PageLink<To, From extends { type: string }> {
  private ready = false;
  private gone = false;
  private remembered: Remember | undefined;
  private shown: To | undefined;
  private waiting: To[] = [];
  private readonly listening: { dispose(): void };

  constructor(
    private readonly webview: Webview<From>,
    private readonly answer: (message: Question<From>) => Promise<void>,
    private readonly failed: (type: string, error: unknown) => void,
  ) {
    this.listening = webview.onDidReceiveMessage((message) => this.receive(message));
  }

  dispose(): void {
    this.gone = true;
    this.listening.dispose();
  }

  /** Sets what the page shows from now on. A page that is loaded again gets it again. */
  show(message: To): void {
    this.shown = message;
    if (!this.gone) {
      didShow({ kind: "page", message });
    }
    if (this.ready) {
      this.send(message);
    }
  }

  /** Sends something besides. */
  post(message: To): void {
    if (this.ready) {
      this.send(message);
    } else {
      this.waiting.push(message);
    }
  }

  remember(state: object): void {
    this.remembered = { type: "remember", state };
    if (this.ready) {
      this.send(this.remembered);
    }
  }

  private send(message: To | Remember | Answered): void {
    if (!this.gone) {
      void this.webview.postMessage(message);
    }
  }

  private async receive(message: From): Promise<void> {
    try {
      if (message.type === "ready") {
        this.begin();
      } else {
        await this.answer(message as Question<From>);
      }
    } catch (error) {
      if (!this.gone && !troubleOf(error).cancelled) {
        this.failed(message.type, error);
      }
    }
    this.send({ type: "answered" });
  }

  private begin(): void {
    this.ready = true;
    didShow({ kind: "pageReady" });
    for (const message of [this.remembered, this.shown, ...this.waiting.splice(0)]) {
      if (message !== undefined) {
        this.send(message);
      }
    }
  }
}
