/** What the panels of refine loops and of two traces compared share: a page that a script fills from messages. */
import * as vscode from "vscode";
import type { PageAssets } from "../views/page";
import { pageAssets, pageOptions } from "./webviewAssets";

/** One panel. Its page is told what to show as soon as it is there, and then whenever that changes. */
export abstract class TablePanel<To, From extends { type: string }> {
  private ready = false;
  private last: To | undefined;

  constructor(
    readonly panel: vscode.WebviewPanel,
    extensionUri: vscode.Uri,
    script: string,
    html: (assets: PageAssets) => string,
  ) {
    panel.iconPath = vscode.Uri.joinPath(extensionUri, "media", "icon.svg");
    panel.webview.onDidReceiveMessage((message: From) => this.receive(message));
    panel.webview.html = html(pageAssets(panel.webview, extensionUri, script, "trace"));
  }

  /** The user closed it. */
  abstract closed(): void;

  protected abstract answer(message: Exclude<From, { type: "ready" }>): Promise<void>;

  /** What the page shows from now on. */
  protected show(message: To): void {
    this.last = message;
    this.add(message);
  }

  /** What it shows besides. */
  protected add(message: To): void {
    if (this.ready) {
      void this.panel.webview.postMessage(message);
    }
  }

  private async receive(message: From): Promise<void> {
    if (message.type !== "ready") {
      await this.answer(message as Exclude<From, { type: "ready" }>);
      return;
    }
    this.ready = true;
    if (this.last !== undefined) {
      this.add(this.last);
    }
  }
}

/** The open ones of a kind. */
export class TablePanels<Panel extends Pick<TablePanel<never, never>, "panel" | "closed">>
  implements vscode.Disposable
{
  private readonly all = new Set<Panel>();

  constructor(
    private readonly viewType: string,
    private readonly extensionUri: vscode.Uri,
  ) {}

  get newest(): Panel | undefined {
    return [...this.all].at(-1);
  }

  find(wanted: (panel: Panel) => boolean): Panel | undefined {
    return [...this.all].find(wanted);
  }

  open(title: string, make: (panel: vscode.WebviewPanel) => Panel): Panel {
    const panel = vscode.window.createWebviewPanel(this.viewType, title, vscode.ViewColumn.Active, {
      ...pageOptions(this.extensionUri),
      retainContextWhenHidden: true,
    });
    const made = make(panel);
    this.all.add(made);
    panel.onDidDispose(() => {
      this.all.delete(made);
      made.closed();
    });
    return made;
  }

  dispose(): void {
    for (const { panel } of [...this.all]) {
      panel.dispose();
    }
  }
}
