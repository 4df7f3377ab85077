/** A webview's page as the extension sees it. No `vscode` in here: `vscode.Webview` is a {@link Webview}. */
import { troubleOf } from "./engine/errors";
import { didShow } from "./shown";

interface Webview<From> {
  postMessage(message: unknown): PromiseLike<boolean>;
  onDidReceiveMessage(listener: (message: From) => unknown): { dispose(): void };
}

/** What the page keeps for the editor, which gives it back when the window was reloaded. */
export interface Remember {
  type: "remember";
  state: unknown;
}

/** One more of the messages of the page is dealt with: what it is told because of that came before. */
export interface Answered {
  type: "answered";
}

/** Pages that have said that they are there, so far: for tests. */
let begun = 0;

export function pagesBegun(): number {
  return begun;
}

/** What a page asks, apart from saying that it is there. */
type Asked<From> = Exclude<From, { type: "ready" }>;

/**
 * The wire to a page. What is said before the page is there waits for it. Once the page is gone nothing is said and nothing
 * fails, whoever still works for it.
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
    private readonly answer: (message: Asked<From>) => Promise<void>,
    private readonly failed: (type: string, error: unknown) => void,
  ) {
    this.listening = webview.onDidReceiveMessage((message) => this.receive(message));
  }

  /** The page is gone. */
  get closed(): boolean {
    return this.gone;
  }

  dispose(): void {
    this.gone = true;
    this.listening.dispose();
  }

  /** What the page shows from now on; told again to a page that begins anew. */
  show(message: To): void {
    this.shown = message;
    if (this.ready) {
      this.send(message);
    }
  }

  /** What it is told besides. */
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
        await this.answer(message as Asked<From>);
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
    begun += 1;
    didShow();
    for (const message of [this.remembered, this.shown, ...this.waiting.splice(0)]) {
      if (message !== undefined) {
        this.send(message);
      }
    }
  }
}
