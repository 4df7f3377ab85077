/** Two runs of transactions compared: their types side by side, each row a way into the Navigator. */
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { requests } from "../../core/engine/protocol";
import { runFolderOf } from "../../core/runs/runsOnDisk";
import { didShow } from "../../core/shown";
import { baseName } from "../../core/text/format";
import {
  type ComparedTypes,
  comparedTypes,
  type FromTransactionsCompare,
  type ToTransactionsCompare,
} from "../../core/transactions/compare";
import { transactionsCompareHtml } from "../../views/transactions";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { TablePanel, TablePanels } from "../editor/tablePanel";
import { fileOf, type Target } from "../editor/target";
import type { Navigation } from "../navigator/navigation";
import type { RunStore } from "../runs/runStore";
import { TransactionTypes } from "./transactionTypes";

interface Pair {
  before: string;
  after: string;
}

export class TransactionsCompare implements vscode.Disposable {
  private readonly panels: TablePanels<ComparePanel>;
  private readonly types: TransactionTypes;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly engine: Engine,
    navigation: Navigation,
    private readonly store: RunStore,
    private readonly extensionUri: vscode.Uri,
  ) {
    this.types = new TransactionTypes(engine, navigation, store);
    this.panels = new TablePanels("fulcrum.transactionsCompare", (panel, state) => this.restore(panel, state));
    this.subscriptions = [
      this.panels,
      vscode.commands.registerCommand("fulcrum.transactions.compare", (target?: Target | Pair) => this.compare(target)),
    ];
  }

  /** What the newest panel shows: for tests. */
  get shown(): ComparedTypes | undefined {
    return this.panels.newest?.compared;
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** With a pair at once; with one run it asks for the one before; else for both. */
  private async compare(target: Target | Pair | undefined): Promise<void> {
    if (typeof target === "object" && "before" in target) {
      await this.open(target);
      return;
    }
    const file = fileOf(target);
    const after =
      file === undefined ? await this.choose("Compare Transactions: A, What to Look At") : runFolderOf(file);
    const before = after === undefined ? undefined : await this.choose("Compare Transactions: B, the Base", after);
    if (after !== undefined && before !== undefined) {
      await this.open({ before, after });
    }
  }

  private async choose(title: string, other?: string): Promise<string | undefined> {
    const runs = (await this.store.list()).filter((run) => run.kind === "transactions" && run.path !== other);
    const items = runs
      .sort((a, b) => Date.parse(b.start) - Date.parse(a.start))
      .map((run) => ({
        label: `$(history) ${run.name}`,
        description: new Date(run.start).toLocaleString(),
        detail: run.command,
        run,
      }));
    if (items.length === 0) {
      await messages.info(
        other === undefined
          ? "Nothing here has transactions: record some with Run and Profile Transactions…"
          : "There is no other run of transactions here to compare it with.",
      );
      return undefined;
    }
    const choice = await vscode.window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true });
    return choice?.run.path;
  }

  private async open(pair: Pair, panel = this.panels.create("Transactions compared")): Promise<void> {
    await this.panels.add(new ComparePanel(this.engine, this.types, this.extensionUri, panel, pair)).load();
  }

  /** The window was reloaded. */
  private async restore(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const { before, after } = (state ?? {}) as Partial<Pair>;
    if (typeof before !== "string" || typeof after !== "string") {
      panel.dispose();
      return;
    }
    await this.open({ before, after }, panel);
  }
}

/** One comparison. A is the run after the change. */
class ComparePanel extends TablePanel<ToTransactionsCompare, FromTransactionsCompare> {
  compared: ComparedTypes | undefined;
  /** Cancelled when what is being read is no longer wanted. */
  private loading = new vscode.CancellationTokenSource();

  constructor(
    engine: Engine,
    private readonly types: TransactionTypes,
    extensionUri: vscode.Uri,
    panel: vscode.WebviewPanel,
    private pair: Pair,
  ) {
    super(engine, extensionUri, panel, "transactionsCompare", transactionsCompareHtml, "transactions");
  }

  override dispose(): void {
    super.dispose();
    this.loading.cancel();
  }

  async load(): Promise<void> {
    this.loading.cancel();
    this.loading = new vscode.CancellationTokenSource();
    const { token } = this.loading;
    const { before, after } = this.pair;
    const [a, b] = [baseName(after), baseName(before)];
    this.panel.title = `${a} − ${b}`;
    this.page.remember(this.pair);
    const tell = (message: string) => this.page.show({ type: "loading", a, b, message });
    tell("Reading both runs…");
    try {
      const found = await this.engine.long(
        requests.TransactionsCompare,
        { run: after, against: before },
        { token, onCancel: "drop", report: ({ message = "" }) => tell(message) },
      );
      if (token.isCancellationRequested) {
        return;
      }
      this.compared = comparedTypes(a, b, found);
      this.page.show({ type: "show", compared: this.compared });
      didShow();
    } catch (error) {
      if (token.isCancellationRequested) {
        return;
      }
      const trouble = troubleOf(error);
      this.engine.log.error(`Comparing ${a} with ${b}: ${troubleText(trouble)}`);
      this.compared = undefined;
      this.page.show({ type: "trouble", text: troubleText(trouble) });
    }
  }

  protected override async answer(message: Exclude<FromTransactionsCompare, { type: "ready" }>): Promise<void> {
    const { before, after } = this.pair;
    switch (message.type) {
      case "swap":
        this.pair = { before: after, after: before };
        await this.load();
        break;
      case "again":
        await this.load();
        break;
      case "run":
        await vscode.commands.executeCommand("fulcrum.transactions.open", message.side === "a" ? after : before);
        break;
      case "compare": {
        const [a, b] = [after, before].map((run) => ({ run, type: message.of }));
        const of = message.in === "b" ? b : a;
        if (of !== undefined) {
          await this.types.open(of, message.in === "both" ? b : undefined);
        }
        break;
      }
    }
  }
}
