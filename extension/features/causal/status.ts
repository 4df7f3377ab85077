/** The one status bar item, and the menu behind it. */
import * as vscode from "vscode";
import { isPaused } from "../../core/causal/live";
import { againText, statusText } from "../../core/causal/status";
import { Owner } from "../../core/owner";
import { didShow } from "../../core/shown";
import { baseName, bestRow } from "../../core/text/format";
import type { Engine } from "../editor/engine";
import type { GutterChoice } from "../marks/gutterChoice";
import type { CausalResults, RunInProgress } from "./causalResults";

export class Status extends Owner {
  private readonly item: vscode.StatusBarItem;
  /** One click, where the item itself opens a menu. */
  private readonly again: vscode.StatusBarItem;

  constructor(
    private readonly engine: Engine,
    private readonly results: CausalResults,
    private readonly choice: GutterChoice,
    /** The name of the program that was run last. */
    private readonly lastProgram: () => string | undefined,
  ) {
    super();
    this.item = vscode.window.createStatusBarItem("fulcrum.status", vscode.StatusBarAlignment.Left, 10);
    this.item.name = "Fulcrum";
    this.item.command = "fulcrum.statusMenu";
    this.again = vscode.window.createStatusBarItem("fulcrum.runAgain", vscode.StatusBarAlignment.Left, 9);
    this.again.name = "Fulcrum: Run Again";
    this.again.command = "fulcrum.causal.runAgain";
    this.ownAll(
      this.item,
      this.again,
      engine.onDidChangeState(() => this.update()),
      results.onDidChangeResults(() => this.update()),
      results.onDidChangeRun(() => this.update()),
      choice.onDidChange(() => this.update()),
      vscode.commands.registerCommand("fulcrum.statusMenu", () => this.menu()),
    );
    this.update();
  }

  private update(): void {
    didShow({ kind: "status", text: this.show() });
  }

  /** Gives the text that is shown; null: none. */
  private show(): string | null {
    this.showAgain();
    const { run, summary, rows } = this.results;
    const status = statusText({
      engine: this.engine.state,
      run,
      summary,
      rows,
      hotLinesOf: this.choice.hotLines,
    });
    if (status === undefined) {
      this.item.hide();
      return null;
    }
    this.item.text = status.text;
    this.item.tooltip = status.tooltip;
    this.item.backgroundColor = status.error ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.show();
    return status.text;
  }

  private showAgain(): void {
    const { run, summary, isHollow } = this.results;
    const button = againText({ running: run !== null, open: summary !== null, isHollow, program: this.lastProgram() });
    if (button === undefined) {
      this.again.hide();
      return;
    }
    this.again.text = button.text;
    this.again.tooltip = button.tooltip;
    this.again.command = isHollow ? "fulcrum.causal.runLonger" : "fulcrum.causal.runAgain";
    this.again.show();
  }

  private async runMenu(run: RunInProgress): Promise<void> {
    const entries: (vscode.QuickPickItem & { command?: string })[] = [
      isPaused(run)
        ? { label: "$(play) Resume", detail: "Continue the experiments", command: "fulcrum.causal.resume" }
        : {
            label: "$(debug-pause) Pause",
            detail: "The program continues without experiments",
            command: "fulcrum.causal.pause",
          },
      {
        label: "$(debug-stop) Stop and show results",
        detail: "End the program; what was recorded stays",
        command: "fulcrum.causal.stop",
      },
      {
        label: "$(target) Change scope or target…",
        detail: "Continue with functions, paths, blocked calls, or other files",
        command: "fulcrum.causal.retarget",
      },
      this.results.summary?.live === true
        ? { label: "$(list-ordered) Show ranking", command: "fulcrum.ranking.open" }
        : { label: "$(pulse) Show live results", command: "fulcrum.causal.showLive" },
      { label: "$(check) Let it run" },
    ];
    const choice = await vscode.window.showQuickPick(entries, {
      title: `Fulcrum is profiling ${baseName(run.program)}`,
      placeHolder: run.message,
    });
    if (choice?.command !== undefined) {
      await vscode.commands.executeCommand(choice.command);
    }
  }

  private async menu(): Promise<void> {
    const { run, summary } = this.results;
    if (run !== null) {
      await this.runMenu(run);
      return;
    }
    const entries: (vscode.QuickPickItem & { command: string; argument?: unknown })[] = [];
    const best = bestRow(this.results.rows);
    if (summary !== null) {
      if (best !== undefined) {
        entries.push({
          label: "$(arrow-right) Go to the best line",
          description: best.label,
          command: "fulcrum.ranking.goto",
          argument: best,
        });
      }
      entries.push({ label: "$(list-ordered) Show ranking", command: "fulcrum.ranking.open" });
    }
    const { causal, profile } = this.choice.titles;
    if (profile !== undefined) {
      entries.push({ label: "$(flame) Show navigator", description: profile, command: "fulcrum.navigator.focus" });
    }
    if (causal !== undefined && profile !== undefined) {
      const other = this.choice.source === "causal" ? `hot lines of ${profile}` : `causal results of ${causal}`;
      entries.push({ label: "$(arrow-swap) Switch the gutter", description: other, command: "fulcrum.gutter.switch" });
    }
    const program = this.lastProgram();
    if (program !== undefined) {
      entries.push({
        label: "$(debug-rerun) Run again",
        description: program,
        command: "fulcrum.causal.runAgain",
      });
    }
    if (this.results.canRunLonger) {
      entries.push({
        label: "$(debug-continue) Run longer",
        description: "continue where the open run stopped",
        command: "fulcrum.causal.runLonger",
      });
    }
    entries.push({ label: "$(play) Run causal profiler…", command: "fulcrum.causal.run" });
    entries.push({ label: "$(folder-opened) Open causal profile…", command: "fulcrum.causal.open" });
    entries.push({ label: "$(folder-opened) Open profile in the navigator…", command: "fulcrum.profile.open" });
    if (summary !== null) {
      entries.push({ label: "$(clear-all) Clear results", command: "fulcrum.clearResults" });
    }
    if (this.engine.state === "failed") {
      entries.unshift({ label: "$(debug-restart) Restart engine", command: "fulcrum.restartEngine" });
    }
    entries.push({ label: "$(output) Show log", command: "fulcrum.showLog" });
    const choice = await vscode.window.showQuickPick(entries, { title: summary?.title ?? "Fulcrum" });
    if (choice !== undefined) {
      await vscode.commands.executeCommand(choice.command, choice.argument);
    }
  }
}
