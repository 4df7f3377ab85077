/** The Navigator's view in the side panel: a page that shows what {@link Navigation} holds. */
import * as vscode from "vscode";
import type { NavigatorCommand } from "../../core/engine/protocol";
import { rowModel } from "../../core/navigator/lists";
import { type FromNavigator, type ToNavigator, viewCommands } from "../../core/navigator/messages";
import { navigatorShown } from "../../core/navigator/navigationState";
import { Owner } from "../../core/owner";
import type { PageLink, Question } from "../../core/page";
import { navigatorHtml } from "../../views/navigator";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { loadPage } from "../editor/webviewAssets";
import { openFrame } from "./frames";
import type { Navigation } from "./navigation";
import { setFocused } from "./navigatorFocus";
import { fetchRows } from "./navigatorRequests";

const viewType = "fulcrum.navigator";

export class NavigatorView extends Owner implements vscode.WebviewViewProvider {
  private page: PageLink<ToNavigator, FromNavigator> | undefined;
  /** Commands of the page in progress. */
  private working = 0;

  constructor(
    private readonly engine: Engine,
    private readonly navigation: Navigation,
    private readonly extensionUri: vscode.Uri,
  ) {
    super();
    this.ownAll(
      vscode.window.registerWebviewViewProvider(viewType, this, {
        // Coming back to the view must not ask for everything again.
        webviewOptions: { retainContextWhenHidden: true },
      }),
      navigation.onDidChange(() => this.update()),
    );
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const file = { script: "navigator", html: navigatorHtml };
    const page = loadPage<ToNavigator, FromNavigator>(view.webview, this.extensionUri, file, {
      answer: (message) => this.answer(message),
      failed: (type, error) => void messages.showTrouble(this.engine.log, `The Navigator (${type})`, error),
    });
    this.page = page;
    view.onDidDispose(() => {
      page.dispose();
      void setFocused(false);
    });
    this.update();
    void this.navigation.restore();
  }

  private update(): void {
    const { state, remembered } = this.navigation;
    this.page?.show({ type: "show", shown: navigatorShown(state, remembered) });
  }

  private async answer(message: Question<FromNavigator>): Promise<void> {
    switch (message.type) {
      case "focus":
        await setFocused(message.focused);
        this.page?.post({ type: "keys", turn: message.turn });
        break;
      case "rows":
        await this.rows(message);
        break;
      case "select":
        await this.busy(this.seen(message.revision, { kind: "select", number: message.number }));
        break;
      case "goTo":
        await this.busy(this.seen(message.revision, { kind: "goTo", at: message.at }));
        break;
      case "frame":
        await openFrame(this.engine, this.navigation, message.name);
        break;
      case "label":
        await this.label(message.name, message.action);
        break;
      case "cancel":
        this.navigation.cancel();
        break;
      case "run":
        if (viewCommands.includes(message.command)) {
          await this.busy(vscode.commands.executeCommand(message.command));
        }
        break;
    }
  }

  /** Does a command on the view that the page showed. In another view its number is another path, and nothing is done. */
  private seen(revision: number, command: NavigatorCommand): Promise<boolean> {
    return this.navigation.do((view) => (view.revision === revision ? command : undefined));
  }

  private async rows({ revision, step, from, count }: Extract<FromNavigator, { type: "rows" }>): Promise<void> {
    const rows = await fetchRows(this.engine, this.navigation.open, { revision, step, from, count });
    const view = this.navigation.open?.view;
    if (rows !== undefined && view?.revision === revision) {
      this.page?.post({ type: "rows", revision, step, from, rows: rows.map((row) => rowModel(row, step, view)) });
    }
  }

  private async label(name: string, action: "show" | "remove" | "unlabel"): Promise<void> {
    if (action === "remove") {
      await this.navigation.do({ kind: "removeLabel", name });
    } else if (action === "unlabel") {
      await this.navigation.do({ kind: "unlabel", name });
    } else {
      await vscode.commands.executeCommand("fulcrum.navigator.goToLabel", name);
    }
  }

  private async busy(work: Thenable<unknown>): Promise<void> {
    this.working += 1;
    const timer = setTimeout(() => this.page?.post({ type: "busy", busy: this.working > 0 }), 150);
    try {
      await work;
    } finally {
      clearTimeout(timer);
      this.working -= 1;
      this.page?.post({ type: "busy", busy: this.working > 0 });
    }
  }
}
