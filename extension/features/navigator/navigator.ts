/** The Navigator's view in the side panel: a page that shows what {@link Navigation} holds. */
import * as vscode from "vscode";
import type { NavigatorCommand, NavigatorStep } from "../../core/engine/protocol";
import { type RowModel, rowModel } from "../../core/navigator/lists";
import { type FromNavigator, type NavigatorShown, type ToNavigator, viewCommands } from "../../core/navigator/messages";
import { type NavigatorModel, navigatorModel } from "../../core/navigator/model";
import { PageLink } from "../../core/page";
import { didShow } from "../../core/shown";
import { navigatorHtml } from "../../views/navigator";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { pageAssets, pageOptions } from "../editor/webviewAssets";
import { openFrame } from "./frames";
import { type Navigation, titleOf } from "./navigation";
import { setFocused } from "./navigatorFocus";

const viewType = "fulcrum.navigator";

export class NavigatorView implements vscode.Disposable, vscode.WebviewViewProvider {
  private page: PageLink<ToNavigator, FromNavigator> | undefined;
  private shownModel: NavigatorModel | undefined;
  /** Commands of the page that are not answered yet. */
  private working = 0;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly engine: Engine,
    private readonly navigation: Navigation,
    private readonly extensionUri: vscode.Uri,
  ) {
    this.subscriptions = [
      vscode.window.registerWebviewViewProvider(viewType, this, {
        // Coming back to the view must not ask for everything again.
        webviewOptions: { retainContextWhenHidden: true },
      }),
      navigation.onDidChange(() => this.update()),
    ];
  }

  /** What the page shows: for tests. */
  get shown(): NavigatorModel | undefined {
    return this.shownModel;
  }

  /** Its first rows of a sort: for tests. */
  async rowsOf(step: NavigatorStep, count: number): Promise<RowModel[]> {
    const view = this.navigation.open?.view;
    const rows = view === undefined ? [] : ((await this.navigation.rows(view.revision, step, 0, count)) ?? []);
    return view === undefined ? [] : rows.map((row) => rowModel(row, step, view));
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const page = new PageLink<ToNavigator, FromNavigator>(
      view.webview,
      (message) => this.answer(message),
      (type, error) => void messages.showTrouble(this.engine.log, `The Navigator (${type})`, error),
    );
    this.page = page;
    view.webview.options = pageOptions(this.extensionUri);
    view.onDidDispose(() => {
      page.dispose();
      void setFocused(false);
    });
    view.webview.html = navigatorHtml(pageAssets(view.webview, this.extensionUri, "navigator"));
    this.update();
    void this.navigation.restore();
  }

  private update(): void {
    const shown = this.shownNow();
    this.shownModel = shown.kind === "open" ? shown.model : undefined;
    this.page?.show({ type: "show", shown });
    didShow();
  }

  private shownNow(): NavigatorShown {
    const { state, remembered } = this.navigation;
    switch (state.kind) {
      case "open": {
        const { files, against, made } = state.source;
        const severalRuns = made?.spread === true || (files.length > 1 && against.length > 1);
        return { kind: "open", model: navigatorModel(state.opened, state.view, severalRuns) };
      }
      case "empty":
        return { kind: "empty", again: remembered === undefined ? null : titleOf(remembered) };
      case "trouble":
        return { ...state, again: remembered !== undefined };
      case "opening":
        return state;
    }
  }

  private async answer(message: Exclude<FromNavigator, { type: "ready" }>): Promise<void> {
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

  /** Does a command on what the page showed then: in another view the same number is another path, and nothing is done. */
  private seen(revision: number, command: NavigatorCommand): Promise<boolean> {
    return this.navigation.do((view) => (view.revision === revision ? command : undefined));
  }

  private async rows({ revision, step, from, count }: Extract<FromNavigator, { type: "rows" }>): Promise<void> {
    const rows = await this.navigation.rows(revision, step, from, count);
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
