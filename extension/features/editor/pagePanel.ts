/** Panels that show a page: one base for all of them, and the set of those that are open. */
import * as vscode from "vscode";
import { Owner } from "../../core/owner";
import type { PageLink, Question } from "../../core/page";
import type { Engine } from "./engine";
import * as messages from "./messages";
import { loadPage, type PageFile } from "./webviewAssets";

/** What panels need of the extension. */
export interface PanelContext {
  readonly engine: Engine;
  readonly extensionUri: vscode.Uri;
}

/** One panel and the link to its page. It is disposed of when the user closes it; see {@link PagePanels.add}. */
export abstract class PagePanel<To, From extends { type: string }> extends Owner {
  protected readonly engine: Engine;
  protected readonly page: PageLink<To, From>;

  constructor(
    { engine, extensionUri }: PanelContext,
    readonly panel: vscode.WebviewPanel,
    file: PageFile,
  ) {
    super();
    this.engine = engine;
    panel.iconPath = vscode.Uri.joinPath(extensionUri, "media", "icon.svg");
    this.page = this.own(
      loadPage<To, From>(panel.webview, extensionUri, file, {
        answer: (message) => this.answer(message),
        failed: (type, error) => void messages.showTrouble(engine.log, `${panel.title} (${type})`, error),
      }),
    );
  }

  protected abstract answer(message: Question<From>): Promise<void>;
}

/** How panels come back when the window was reloaded. */
export interface Restoring<State> {
  /** What a page kept; `undefined` when it cannot be used, and the panel is closed. */
  read(kept: unknown): State | undefined;
  /** Fills the panel again. */
  restore(panel: vscode.WebviewPanel, state: State): Promise<void>;
}

export interface OpenPanel extends vscode.Disposable {
  readonly panel: vscode.WebviewPanel;
}

/** The open panels of a kind. */
export class PagePanels<Panel extends OpenPanel, State> extends Owner {
  private readonly all = new Set<Panel>();

  constructor(
    private readonly viewType: string,
    { read, restore }: Restoring<State>,
  ) {
    super();
    this.own(
      vscode.window.registerWebviewPanelSerializer(viewType, {
        deserializeWebviewPanel: async (panel, kept: unknown) => {
          const state = read(kept);
          if (state === undefined) {
            panel.dispose();
          } else {
            await restore(panel, state);
          }
        },
      }),
    );
  }

  get newest(): Panel | undefined {
    return [...this.all].at(-1);
  }

  find(matches: (panel: Panel) => boolean): Panel | undefined {
    return [...this.all].find(matches);
  }

  create(title: string): vscode.WebviewPanel {
    return vscode.window.createWebviewPanel(this.viewType, title, vscode.ViewColumn.Active, {
      retainContextWhenHidden: true,
    });
  }

  add(added: Panel): Panel {
    this.all.add(added);
    added.panel.onDidDispose(() => {
      this.all.delete(added);
      added.dispose();
    });
    return added;
  }

  override dispose(): void {
    super.dispose();
    for (const { panel } of [...this.all]) {
      panel.dispose();
    }
  }
}
