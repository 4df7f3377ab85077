/** Two runs side by side: chosen in the explorer or from a list, shown as a table, each row a way to the code. */
import * as vscode from "vscode";
import { compareModel, type FromCompare, type ToCompare } from "../../core/causal/compare";
import { type Comparison, requests } from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import type { Question } from "../../core/page";
import { against, shortTitle } from "../../core/profiles/titles";
import { isPair, type Pair } from "../../core/runs/pair";
import { isTransactionRun, olderFirst, runFolderOf } from "../../core/runs/runsOnDisk";
import { baseName } from "../../core/text/format";
import { isTraceRun } from "../../core/trace/runs";
import { compareHtml } from "../../views/compare";
import { type CommandArgument, fileOf } from "../editor/commandArgument";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import type { PanelContext } from "../editor/pagePanel";
import { PairPanel, PairPanels } from "../editor/pairPanel";
import { missing, showLine } from "../editor/places";
import type { CausalProfileCommands } from "./causalProfileCommands";
import type { CausalResults } from "./causalResults";

/** The longest title of a tab, in letters. */
const longestTitle = 50;

export class Compare extends Owner {
  private selected: string | undefined;
  /** Says what to do next, until it is done. */
  private hint: vscode.Disposable | undefined;
  private readonly panels: PairPanels<ComparePanel>;

  constructor(
    engine: Engine,
    private readonly results: CausalResults,
    private readonly profiles: CausalProfileCommands,
    extensionUri: vscode.Uri,
  ) {
    super();
    const context = { engine, extensionUri };
    this.panels = new PairPanels("fulcrum.compare", "Compare", (panel, pair) => new ComparePanel(context, panel, pair));
    this.ownAll(
      this.panels,
      vscode.commands.registerCommand("fulcrum.compare.select", (target?: CommandArgument) => this.select(target)),
      vscode.commands.registerCommand("fulcrum.compare.withSelected", (target?: CommandArgument) =>
        this.withSelected(target),
      ),
      vscode.commands.registerCommand(
        "fulcrum.compare.runs",
        (first?: CommandArgument | Pair, all?: CommandArgument[]) => this.compareRuns(first, all),
      ),
    );
  }

  override dispose(): void {
    this.hint?.dispose();
    super.dispose();
  }

  private async select(target: CommandArgument | undefined): Promise<void> {
    const file = fileOf(target) ?? (await this.profiles.choose("Select Run for Compare"));
    if (file === undefined) {
      return;
    }
    this.selected = runFolderOf(file);
    void vscode.commands.executeCommand("setContext", "fulcrum.compareSelected", true);
    this.hint = messages.keepStatus(
      `${baseName(this.selected)} is the run before the change. Now choose Compare with Selected on the run after it.`,
    );
  }

  private async withSelected(target: CommandArgument | undefined): Promise<void> {
    if (this.selected === undefined) {
      await this.compareRuns();
      return;
    }
    const file = fileOf(target) ?? (await this.profiles.choose("Compare with Selected"));
    if (file !== undefined) {
      await this.open({ before: this.selected, after: runFolderOf(file) });
    }
  }

  /** With a pair, or two that were marked together, at once; else it asks for both. */
  private async compareRuns(first?: CommandArgument | Pair, all: CommandArgument[] = []): Promise<void> {
    if (isPair(first)) {
      await this.open(first);
      return;
    }
    if (all.length === 2) {
      const [before, after] = await olderFirst(all.map((it) => runFolderOf(fileOf(it) ?? "")) as [string, string]);
      await this.open({ before, after });
      return;
    }
    const before = await this.profiles.choose("Compare Runs: Before the Change");
    if (before === undefined) {
      return;
    }
    const open = this.results.summary?.path;
    const after = await this.profiles.choose("Compare Runs: After the Change", open === before ? undefined : open);
    if (after !== undefined) {
      await this.open({ before: runFolderOf(before), after: runFolderOf(after) });
    }
  }

  private async open(pair: Pair): Promise<void> {
    this.hint?.dispose();
    if ((await isTraceRun(pair.before)) && (await isTraceRun(pair.after))) {
      await vscode.commands.executeCommand("fulcrum.trace.compare", pair);
      return;
    }
    if ((await isTransactionRun(pair.before)) && (await isTransactionRun(pair.after))) {
      await vscode.commands.executeCommand("fulcrum.transactions.compare", pair);
      return;
    }
    void this.panels.openOnce(pair);
  }
}

/** One comparison. */
class ComparePanel extends PairPanel<ToCompare, FromCompare> {
  private comparison: Comparison | undefined;
  /** The text of a file in the table changed, so its rows may be elsewhere now. */
  private isOutdated = false;

  constructor(context: PanelContext, panel: vscode.WebviewPanel, pair: Pair) {
    super(context, panel, { script: "compare", html: compareHtml }, pair);
    this.own(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        const uri = document.uri.toString();
        this.isOutdated ||=
          this.comparison?.progressPoints.some((it) => it.targets.some((row) => row.uri === uri)) === true;
      }),
    );
  }

  protected override titleOf({ before, after }: Pair): string {
    const title = shortTitle(`${baseName(before)}${against}${baseName(after)}`, longestTitle);
    return title.replace(against, " ↔ ");
  }

  protected override async compare({ before, after }: Pair, token: vscode.CancellationToken): Promise<void> {
    if (this.comparison === undefined) {
      this.page.show({ type: "loading" });
    }
    const comparison = await this.engine.request(requests.CausalCompare, { before, after });
    if (!token.isCancellationRequested) {
      this.isOutdated = false;
      this.comparison = comparison;
      this.page.show({ type: "show", model: compareModel(comparison) });
    }
  }

  protected override forget(): void {
    this.comparison = undefined;
  }

  protected override async answer(message: Question<FromCompare>): Promise<void> {
    switch (message.type) {
      case "swap":
        await this.swap();
        break;
      case "refresh":
        await this.load();
        break;
      case "choose":
        await vscode.commands.executeCommand("fulcrum.compare.runs");
        break;
      case "goTo":
        await this.goTo(message.point, message.target);
        break;
    }
  }

  private async goTo(point: number, target: number): Promise<void> {
    const wanted = this.comparison?.progressPoints[point]?.targets[target]?.target;
    if (this.isOutdated) {
      await this.load();
    }
    const row = this.comparison?.progressPoints[point]?.targets.find((candidate) => candidate.target === wanted);
    if (row === undefined) {
      return;
    }
    if (row.uri === null) {
      await missing(row);
      return;
    }
    try {
      await showLine(vscode.Uri.parse(row.uri, true), row.line);
    } catch (error) {
      await messages.showTrouble(this.engine.log, `Opening ${row.location}`, error);
    }
  }
}
