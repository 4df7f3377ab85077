/** Two runs side by side: chosen in the explorer or from a list, shown as a table, each row a way to the code. */
import * as vscode from "vscode";
import { type CompareModel, compareModel, type FromCompare, type ToCompare } from "../../core/causal/compare";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { type Comparison, requests } from "../../core/engine/protocol";
import { against, shortTitle } from "../../core/profiles/titles";
import { isTransactionRun, olderFirst, runFolderOf } from "../../core/runs/runsOnDisk";
import { didShow } from "../../core/shown";
import { baseName } from "../../core/text/format";
import { isTraceRun } from "../../core/trace/runs";
import { compareHtml } from "../../views/compare";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { missing, showLine } from "../editor/places";
import { TablePanel, TablePanels } from "../editor/tablePanel";
import { fileOf, type Target } from "../editor/target";
import type { OpenProfile } from "./openProfile";
import type { Session } from "./session";

/** Of a tab, in letters. */
const longestTitle = 50;

/** The paths of two profiles. */
interface Pair {
  before: string;
  after: string;
}

export class Compare implements vscode.Disposable {
  private selected: string | undefined;
  /** What to do next, until it is done. */
  private hint: vscode.Disposable | undefined;
  private readonly panels: TablePanels<View>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly engine: Engine,
    private readonly session: Session,
    private readonly profiles: OpenProfile,
    private readonly extensionUri: vscode.Uri,
  ) {
    this.panels = new TablePanels("fulcrum.compare", (panel, state) => this.restore(panel, state));
    this.subscriptions = [
      this.panels,
      vscode.commands.registerCommand("fulcrum.compare.select", (target?: Target) => this.select(target)),
      vscode.commands.registerCommand("fulcrum.compare.withSelected", (target?: Target) => this.withSelected(target)),
      vscode.commands.registerCommand("fulcrum.compare.runs", (first?: Target | Pair, all?: Target[]) =>
        this.compareRuns(first, all),
      ),
    ];
  }

  /** What the newest view shows: for tests. */
  get shown(): CompareModel | undefined {
    return this.panels.newest?.model;
  }

  dispose(): void {
    this.hint?.dispose();
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  private async select(target: Target | undefined): Promise<void> {
    const file = fileOf(target) ?? (await this.profiles.choose("Select Run for Compare"));
    if (file === undefined) {
      return;
    }
    this.selected = runFolderOf(file);
    void vscode.commands.executeCommand("setContext", "fulcrum.compareSelected", true);
    this.hint = messages.hold(
      `${baseName(this.selected)} is the run before the change. Now choose Compare with Selected on the run after it.`,
    );
  }

  private async withSelected(target: Target | undefined): Promise<void> {
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
  private async compareRuns(first?: Target | Pair, all: Target[] = []): Promise<void> {
    if (typeof first === "object" && "before" in first) {
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
    const open = this.session.summary?.path;
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
    const there = this.panels.find((view) => view.shows(pair));
    there?.panel.reveal();
    void (there ?? this.viewOf(pair)).load();
  }

  /** The window was reloaded. */
  private async restore(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const { before, after } = (state ?? {}) as Partial<Pair>;
    if (typeof before !== "string" || typeof after !== "string") {
      panel.dispose();
      return;
    }
    void this.viewOf({ before, after }, panel).load();
  }

  private viewOf(pair: Pair, panel = this.panels.create("Compare")): View {
    return this.panels.add(new View(this.engine, this.extensionUri, panel, pair));
  }
}

/** One comparison. */
class View extends TablePanel<ToCompare, FromCompare> {
  model: CompareModel | undefined;
  private comparison: Comparison | undefined;
  /** The text of a file in the table changed, so its rows may stand elsewhere. */
  private outdated = false;
  private round = 0;
  private readonly edits: vscode.Disposable;

  constructor(
    engine: Engine,
    extensionUri: vscode.Uri,
    panel: vscode.WebviewPanel,
    private pair: Pair,
  ) {
    super(engine, extensionUri, panel, "compare", compareHtml, "compare");
    this.edits = vscode.workspace.onDidChangeTextDocument(({ document }) => {
      const uri = document.uri.toString();
      this.outdated ||=
        this.comparison?.progressPoints.some((it) => it.targets.some((row) => row.uri === uri)) === true;
    });
  }

  shows(pair: Pair): boolean {
    return pair.before === this.pair.before && pair.after === this.pair.after;
  }

  override dispose(): void {
    super.dispose();
    this.edits.dispose();
    didShow();
  }

  async load(): Promise<void> {
    this.round += 1;
    const round = this.round;
    const { before, after } = this.pair;
    const title = shortTitle(`${baseName(before)}${against}${baseName(after)}`, longestTitle);
    this.panel.title = title.replace(against, " ↔ ");
    this.page.remember(this.pair);
    if (this.comparison === undefined) {
      this.page.show({ type: "loading" });
    }
    try {
      const comparison = await this.engine.request(requests.CausalCompare, { before, after });
      if (round === this.round) {
        this.outdated = false;
        this.comparison = comparison;
        this.model = compareModel(comparison);
        this.page.show({ type: "show", model: this.model });
        didShow();
      }
    } catch (error) {
      if (round === this.round) {
        const trouble = troubleOf(error);
        this.engine.log.error(`Comparing ${before} with ${after}: ${troubleText(trouble)}`);
        this.comparison = undefined;
        this.model = undefined;
        this.page.show({ type: "trouble", text: troubleText(trouble) });
      }
    }
  }

  protected override async answer(message: Exclude<FromCompare, { type: "ready" }>): Promise<void> {
    switch (message.type) {
      case "swap":
        this.pair = { before: this.pair.after, after: this.pair.before };
        await this.load();
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
    if (this.outdated) {
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
