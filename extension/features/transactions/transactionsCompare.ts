/** Two runs of transactions compared: their types side by side, each row a way into the Navigator. */
import * as vscode from "vscode";
import { requests } from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import type { Question } from "../../core/page";
import { isPair, type Pair } from "../../core/runs/pair";
import { runFolderOf } from "../../core/runs/runsOnDisk";
import { baseName } from "../../core/text/format";
import {
  comparedTypes,
  type FromTransactionsCompare,
  type ToTransactionsCompare,
} from "../../core/transactions/compare";
import { transactionsCompareHtml } from "../../views/transactions";
import { type CommandArgument, fileOf } from "../editor/commandArgument";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import type { PanelContext } from "../editor/pagePanel";
import { PairPanel, PairPanels } from "../editor/pairPanel";
import type { Navigation } from "../navigator/navigation";
import type { RunStore } from "../runs/runStore";
import { TransactionTypes } from "./transactionTypes";

export class TransactionsCompare extends Owner {
  private readonly panels: PairPanels<ComparePanel>;

  constructor(
    engine: Engine,
    navigation: Navigation,
    private readonly store: RunStore,
    extensionUri: vscode.Uri,
  ) {
    super();
    const context = { engine, extensionUri };
    const types = new TransactionTypes(engine, navigation, store);
    this.panels = new PairPanels(
      "fulcrum.transactionsCompare",
      "Transactions compared",
      (panel, pair) => new ComparePanel(context, panel, types, pair),
    );
    this.ownAll(
      this.panels,
      vscode.commands.registerCommand("fulcrum.transactions.compare", (target?: CommandArgument | Pair) =>
        this.compare(target),
      ),
    );
  }

  /** Compares a pair at once; with one run it asks for the one before the change, else for both. */
  private async compare(target: CommandArgument | Pair | undefined): Promise<void> {
    if (isPair(target)) {
      await this.panels.open(target);
      return;
    }
    const file = fileOf(target);
    const after =
      file === undefined ? await this.choose("Compare Transactions: A, the Run to Examine") : runFolderOf(file);
    const before = after === undefined ? undefined : await this.choose("Compare Transactions: B, the Base", after);
    if (after !== undefined && before !== undefined) {
      await this.panels.open({ before, after });
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
          ? "No run here has transactions. Record some with Run and Profile Transactions…"
          : "There is no other run of transactions to compare it with.",
      );
      return undefined;
    }
    const choice = await vscode.window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true });
    return choice?.run.path;
  }
}

/** One comparison. A is the run after the change. */
class ComparePanel extends PairPanel<ToTransactionsCompare, FromTransactionsCompare> {
  constructor(
    context: PanelContext,
    panel: vscode.WebviewPanel,
    private readonly types: TransactionTypes,
    pair: Pair,
  ) {
    const file = { script: "transactionsCompare", style: "transactions", html: transactionsCompareHtml };
    super(context, panel, file, pair);
  }

  protected override titleOf({ before, after }: Pair): string {
    return `${baseName(after)} − ${baseName(before)}`;
  }

  protected override async compare({ before, after }: Pair, token: vscode.CancellationToken): Promise<void> {
    const [a, b] = [baseName(after), baseName(before)];
    const report = (message: string) => this.page.show({ type: "loading", a, b, message });
    report("Reading both runs…");
    const found = await this.engine.long(
      requests.TransactionsCompare,
      { run: after, against: before },
      { token, onCancel: "drop", report: ({ message = "" }) => report(message) },
    );
    if (!token.isCancellationRequested) {
      this.page.show({ type: "show", compared: comparedTypes(a, b, found) });
    }
  }

  protected override async answer(message: Question<FromTransactionsCompare>): Promise<void> {
    const { before, after } = this.pair;
    switch (message.type) {
      case "swap":
        await this.swap();
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
