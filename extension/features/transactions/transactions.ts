/** Transactional profiles: one panel for each run that is open. */
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import {
  type RunEntry,
  requests,
  type TransactionsLiveParams,
  type TransactionsOpened,
  type TransactionsTypeOf,
} from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import type { Question } from "../../core/page";
import { keptRun } from "../../core/runs/pair";
import { runFolderOf } from "../../core/runs/runsOnDisk";
import { baseName } from "../../core/text/format";
import type { FromTransactions, SectionOf, ToTransactions, TypeAction } from "../../core/transactions/messages";
import { transactionsHtml } from "../../views/transactions";
import { type CommandArgument, fileOf } from "../editor/commandArgument";
import type { Engine } from "../editor/engine";
import { shownRequest } from "../editor/longRequest";
import * as messages from "../editor/messages";
import { PagePanel, PagePanels, type PanelContext } from "../editor/pagePanel";
import type { Navigation } from "../navigator/navigation";
import type { RunStore } from "../runs/runStore";
import { TransactionTypes } from "./transactionTypes";

/** The shortest pause between two readings of a recording in progress, in milliseconds. */
const shortestPause = 3000;
/** The pause between two readings, as a multiple of how long one takes: the engine has other things to do. */
const pauses = 5;

/** The longest that a program runs to measure what a section is worth. */
const measuredSeconds = 60;

export class Transactions extends Owner {
  private readonly panels: PagePanels<TransactionsPanel, string>;
  private readonly types: TransactionTypes;
  /** The recording that was followed last. */
  private following: string | undefined;

  constructor(
    readonly engine: Engine,
    navigation: Navigation,
    private readonly store: RunStore,
    readonly extensionUri: vscode.Uri,
  ) {
    super();
    this.types = new TransactionTypes(engine, navigation, store);
    this.panels = new PagePanels("fulcrum.transactions", {
      read: keptRun,
      restore: (panel, run) => this.show(run, panel),
    });
    this.ownAll(
      this.panels,
      vscode.commands.registerCommand("fulcrum.transactions.open", (target?: CommandArgument) => this.open(target)),
    );
  }

  /** Shows how a recording is going, unless the user has closed its panel. */
  follow(live: TransactionsLiveParams, stop: () => void): void {
    if (this.following !== live.run) {
      this.following = live.run;
      const panel = this.panels.create("Transactions");
      this.panels.add(new TransactionsPanel(this, panel, this.types, live.run));
    }
    this.panels.find((panel) => panel.run === live.run)?.follow(live.message, stop);
  }

  /** The recording is over. */
  ended(): void {
    this.panels.find((panel) => panel.run === this.following)?.ended();
  }

  private async open(target: CommandArgument | undefined): Promise<void> {
    const file = fileOf(target) ?? (await this.choose());
    if (file === undefined) {
      return;
    }
    const run = runFolderOf(file);
    const open = this.panels.find((panel) => panel.run === run);
    if (open !== undefined) {
      open.panel.reveal();
      await open.load();
      return;
    }
    await this.show(run, this.panels.create("Transactions"));
  }

  /** Shows a run in a panel. */
  async show(run: string, panel: vscode.WebviewPanel): Promise<void> {
    await this.panels.add(new TransactionsPanel(this, panel, this.types, run)).load();
  }

  /** A run of transactions of this workspace, the newest first, or any folder. */
  private async choose(): Promise<string | undefined> {
    const runs = (await this.store.list()).filter((run) => run.kind === "transactions");
    const title = "Open Transactions";
    const items: { label: string; description?: string; detail?: string; run?: RunEntry }[] = [
      ...runs
        .sort((a, b) => Date.parse(b.start) - Date.parse(a.start))
        .map((run) => ({
          label: `$(history) ${run.name}`,
          description: new Date(run.start).toLocaleString(),
          detail: run.ended === "exited" ? run.command : `${run.command} (${run.ended})`,
          run,
        })),
      { label: "$(folder-opened) A run's folder…" },
    ];
    const choice = await vscode.window.showQuickPick(items, {
      title,
      placeHolder:
        runs.length === 0
          ? "No run here has transactions. Record some with Run and Profile Transactions…"
          : "A run of this workspace, or a folder",
      matchOnDescription: true,
      matchOnDetail: true,
    });
    if (choice === undefined || choice.run !== undefined) {
      return choice?.run?.path;
    }
    const [uri] =
      (await vscode.window.showOpenDialog({
        title,
        openLabel: "Open",
        canSelectFolders: true,
        canSelectFiles: false,
      })) ?? [];
    return uri?.fsPath;
  }
}

/** One run. */
class TransactionsPanel extends PagePanel<ToTransactions, FromTransactions> {
  private opened: TransactionsOpened | undefined;
  /** Ends the recording; set while it goes on. */
  private stop: (() => void) | undefined;
  /** When a recording in progress is read again, in milliseconds since the epoch. */
  private due = 0;
  private reading = false;
  /** Its program runs again, to measure what a section is worth. */
  private measuring = false;
  /** Cancelled when what is being read is no longer wanted. */
  private loading = new vscode.CancellationTokenSource();

  constructor(
    context: PanelContext,
    panel: vscode.WebviewPanel,
    private readonly types: TransactionTypes,
    readonly run: string,
  ) {
    super(context, panel, { script: "transactions", html: transactionsHtml });
    panel.title = baseName(run);
    this.page.remember({ run });
  }

  override dispose(): void {
    super.dispose();
    this.loading.cancel();
  }

  /** The recording goes on. What it has recorded is read again from time to time, less often the more there is. */
  follow(message: string, stop: () => void): void {
    this.stop = stop;
    this.page.post({ type: "live", text: message });
    const begun = Date.now();
    if (this.reading || !this.panel.visible || begun < this.due) {
      return;
    }
    this.reading = true;
    void this.load().finally(() => {
      this.reading = false;
      const took = Date.now() - begun;
      this.due = Date.now() + Math.max(shortestPause, took * pauses);
    });
  }

  /** The recording is over. */
  ended(): void {
    this.stop = undefined;
    this.page.post({ type: "live", text: null });
  }

  async load(): Promise<void> {
    this.loading.cancel();
    this.loading = new vscode.CancellationTokenSource();
    const { token } = this.loading;
    const title = baseName(this.run);
    // What is shown of a recording stays until there is more.
    const tell = (message: string) => {
      if (this.stop === undefined || this.opened === undefined) {
        this.page.show({ type: "opening", title, message });
      }
    };
    tell("Reading the run…");
    try {
      const opened = await this.engine.long(
        requests.TransactionsOpen,
        { run: this.run },
        { token, onCancel: "drop", report: ({ message = "", percentage }) => tell(stepText(message, percentage)) },
      );
      if (token.isCancellationRequested) {
        return;
      }
      this.opened = opened;
      this.page.show({ type: "show", title, opened });
    } catch (error) {
      if (token.isCancellationRequested) {
        return;
      }
      const trouble = troubleOf(error);
      if (this.stop !== undefined) {
        // The first processes may have written nothing yet.
        this.engine.log.info(`Not read yet: ${troubleText(trouble)}`);
        tell("Nothing was recorded yet.");
        return;
      }
      this.engine.log.error(`Opening ${this.run}: ${troubleText(trouble)}`);
      this.opened = undefined;
      this.page.show({ type: "trouble", text: troubleText(trouble) });
    }
  }

  protected override async answer(message: Question<FromTransactions>): Promise<void> {
    switch (message.type) {
      case "again":
        await this.load();
        break;
      case "cancel":
        this.loading.cancel();
        this.page.show({ type: "trouble", text: "It was cancelled." });
        break;
      case "stop":
        this.stop?.();
        break;
      case "frame":
        await this.types.frame(this.run, message.name);
        break;
      case "price":
        await this.measure(message.pair);
        break;
      case "of":
        await this.act(message.action, { run: this.run, type: message.of });
        break;
    }
  }

  /** Starts the program again, and shows the answer beside the pair. */
  private async measure(pair: SectionOf): Promise<void> {
    if (!(await messages.mayRun("Transactions can still be opened and read."))) {
      return;
    }
    if (this.measuring) {
      await messages.info("A section is being measured already. Stop that, or wait until it ends.");
      return;
    }
    this.measuring = true;
    try {
      const price = await shownRequest(
        this.engine,
        requests.TransactionsGetPrice,
        { run: this.run, ...pair, durationSeconds: measuredSeconds },
        { title: `Measuring ${pair.lock}: send requests as when the run was recorded`, onCancel: "stop" },
      );
      this.engine.log.info(`Measured ${price.run}: ${price.sentence}`);
    } finally {
      this.measuring = false;
    }
    await this.load();
  }

  private async act(action: TypeAction, of: TransactionsTypeOf): Promise<void> {
    if (action === "search") {
      await this.types.open(of);
    } else if (action === "flame") {
      await this.types.flame(of);
    } else if (this.opened !== undefined) {
      await this.types.compare(of, this.opened);
    }
  }
}

/** `Replaying, 42 %…`. */
function stepText(phase: string, percentage: number | undefined): string {
  const text = phase === "" ? "Reading the run" : `${phase.charAt(0).toUpperCase()}${phase.slice(1)}`;
  return percentage === undefined ? `${text}…` : `${text}, ${percentage} %…`;
}
