/** What panels of tables share (refine loops, two traces compared, transactions): a page that a script fills from messages. */
import * as vscode from "vscode";
import { PageLink } from "../../core/page";
import type { PageAssets } from "../../views/page";
import type { Engine } from "./engine";
import * as messages from "./messages";
import { pageAssets, pageOptions } from "./webviewAssets";

/** One panel. */
export abstract class TablePanel<To, From extends { type: string }> implements vscode.Disposable {
  protected readonly page: PageLink<To, From>;

  constructor(
    protected readonly engine: Engine,
    extensionUri: vscode.Uri,
    readonly panel: vscode.WebviewPanel,
    script: string,
    html: (assets: PageAssets) => string,
    style = "trace",
  ) {
    panel.iconPath = vscode.Uri.joinPath(extensionUri, "media", "icon.svg");
    this.page = new PageLink<To, From>(
      panel.webview,
      (message) => this.answer(message),
      (type, error) => void messages.showTrouble(engine.log, `${panel.title} (${type})`, error),
    );
    panel.webview.options = pageOptions(extensionUri);
    panel.webview.html = html(pageAssets(panel.webview, extensionUri, script, style));
  }

  /** The user closed it. */
  dispose(): void {
    this.page.dispose();
  }

  protected abstract answer(message: Exclude<From, { type: "ready" }>): Promise<void>;
}

/** The open ones of a kind. */
export class TablePanels<Panel extends vscode.Disposable & { readonly panel: vscode.WebviewPanel }>
  implements vscode.Disposable
{
  private readonly all = new Set<Panel>();
  private readonly serializer: vscode.Disposable;

  /** `restore` gives a panel back its content when the window was reloaded, from what its page kept. */
  constructor(
    private readonly viewType: string,
    restore: (panel: vscode.WebviewPanel, state: unknown) => Promise<void>,
  ) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(viewType, { deserializeWebviewPanel: restore });
  }

  get newest(): Panel | undefined {
    return [...this.all].at(-1);
  }

  find(wanted: (panel: Panel) => boolean): Panel | undefined {
    return [...this.all].find(wanted);
  }

  create(title: string): vscode.WebviewPanel {
    return vscode.window.createWebviewPanel(this.viewType, title, vscode.ViewColumn.Active, {
      retainContextWhenHidden: true,
    });
  }

  add(made: Panel): Panel {
    this.all.add(made);
    made.panel.onDidDispose(() => {
      this.all.delete(made);
      made.dispose();
    });
    return made;
  }

  dispose(): void {
    this.serializer.dispose();
    for (const { panel } of [...this.all]) {
      panel.dispose();
    }
  }
}
