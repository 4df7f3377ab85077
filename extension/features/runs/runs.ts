/** The Runs view: what was recorded in this workspace, newest first, as a native tree. */
import * as path from "node:path";
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { Latest } from "../../core/engine/latest";
import { Owner } from "../../core/owner";
import {
  contextOf,
  descriptionOf,
  iconOf,
  idOf,
  isGoing,
  labelOf,
  type RunNode,
  runNodes,
  runsOf,
  spokenOf,
} from "../../core/runs/runs";
import { deleteQuestion, tooltipOf } from "../../core/runs/runTooltip";
import { didShow } from "../../core/shown";
import { baseName } from "../../core/text/format";
import type { CausalResults } from "../causal/causalResults";
import type { FocusOptions } from "../editor/commandArgument";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import type { Refine } from "../trace/refine";
import type { RunStore } from "./runStore";

const viewId = "fulcrum.runs";

export class RunsView extends Owner implements vscode.TreeDataProvider<RunNode> {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  private readonly view: vscode.TreeView<RunNode>;
  private readonly latest = new Latest<RunNode[]>([]);
  /** What the editor itself is recording. */
  private recording = "";
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly engine: Engine,
    private readonly results: CausalResults,
    private readonly store: RunStore,
    private readonly refine: Refine,
  ) {
    super();
    const register = vscode.commands.registerCommand;
    this.view = vscode.window.createTreeView(viewId, {
      treeDataProvider: this,
      showCollapseAll: false,
      canSelectMany: true,
    });
    this.ownAll(
      this.view,
      store.onDidChange(() => this.refreshVisible()),
      refine.onDidChange(() => this.follow()),
      results.onDidChangeRun(() => this.follow()),
      this.view.onDidChangeVisibility(() => this.refreshVisible()),
      // A recorder that was killed reports nothing.
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused && this.nodes.some(isGoing)) {
          this.refreshVisible();
        }
      }),
      register("fulcrum.runs.show", () => vscode.commands.executeCommand(`${viewId}.focus`)),
      register("fulcrum.runs.refresh", () => this.changed.fire()),
      register("fulcrum.runs.open", (node?: RunNode) => this.open(node ?? this.view.selection[0])),
      register("fulcrum.runs.reveal", (node?: RunNode) => this.reveal(node ?? this.view.selection[0])),
      register("fulcrum.runs.copyPath", (node?: RunNode, all?: RunNode[]) => this.copyPath(this.chosen(node, all))),
      register("fulcrum.runs.remove", (node?: RunNode, all?: RunNode[]) => this.remove(this.chosen(node, all))),
    );
  }

  /** The top rows, as they were listed last. */
  get nodes(): RunNode[] {
    return this.latest.value;
  }

  async getChildren(node?: RunNode): Promise<RunNode[]> {
    if (node !== undefined) {
      return node.type === "loop" ? node.runs : [];
    }
    try {
      // The tree may ask again before it is answered, as when it is refreshed or becomes visible.
      if (await this.latest.ask(() => this.load())) {
        this.view.message = "";
      }
    } catch (error) {
      const trouble = troubleText(troubleOf(error));
      this.engine.log.error(`Listing the runs: ${trouble}`);
      this.view.message = `The runs could not be listed: ${trouble}`;
    }
    didShow({ kind: "view" });
    return this.nodes;
  }

  getParent(node: RunNode): RunNode | undefined {
    return this.nodes.find((it) => it.type === "loop" && it.runs.some((row) => row === node));
  }

  getTreeItem(node: RunNode): vscode.TreeItem {
    const { Collapsed, None } = vscode.TreeItemCollapsibleState;
    const now = new Date();
    const item = new vscode.TreeItem(labelOf(node), node.type === "loop" ? Collapsed : None);
    item.id = idOf(node);
    item.description = descriptionOf(node, now);
    item.iconPath = new vscode.ThemeIcon(iconOf(node));
    item.tooltip = new vscode.MarkdownString(tooltipOf(node));
    item.contextValue = contextOf(node);
    item.accessibilityInformation = { label: spokenOf(node, now) };
    item.command = { command: "fulcrum.runs.open", title: "Open Run", arguments: [node] };
    return item;
  }

  private async load(): Promise<RunNode[]> {
    return (await this.store.hasRuns()) ? runNodes(await this.store.list(), this.refine.currentRun) : [];
  }

  private refreshVisible(): void {
    if (this.view.visible) {
      this.changed.fire();
    }
  }

  /** Reports come twice a second; only its beginning and its end change a row. */
  private follow(): void {
    const now = `${this.results.run !== null} ${this.refine.currentRun}`;
    if (now !== this.recording) {
      this.recording = now;
      this.refreshVisible();
    }
  }

  private chosen(node: RunNode | undefined, all: RunNode[] | undefined): readonly RunNode[] {
    if (node === undefined) {
      return this.view.selection;
    }
    return all !== undefined && all.length > 0 ? all : [node];
  }

  /** In the view that fits its kind. */
  private async open(node: RunNode | undefined): Promise<void> {
    if (node === undefined) {
      return;
    }
    if (node.type === "loop") {
      await vscode.commands.executeCommand("fulcrum.trace.openLoop", node);
      return;
    }
    const { run } = node;
    const own = this.results.run;
    // The arrow keys and Delete go on with the list.
    const stay: FocusOptions = { preserveFocus: true };
    if (run.kind === "events") {
      await vscode.commands.executeCommand("fulcrum.trace.open", run.path);
    } else if (run.kind === "transactions") {
      await vscode.commands.executeCommand("fulcrum.transactions.open", run.path);
    } else if (run.kind === "unknown") {
      await vscode.window.showTextDocument(vscode.Uri.file(path.join(run.path, "run.json")));
    } else if (isGoing(node) && own !== null && baseName(own.program) === baseName(run.program)) {
      await vscode.commands.executeCommand("fulcrum.causal.showLive", stay);
    } else {
      await vscode.commands.executeCommand("fulcrum.causal.open", run.path, stay);
    }
  }

  private async reveal(node: RunNode | undefined): Promise<void> {
    if (node !== undefined) {
      await vscode.commands.executeCommand("revealInExplorer", vscode.Uri.file(node.file));
    }
  }

  private async copyPath(nodes: readonly RunNode[]): Promise<void> {
    if (nodes.length > 0) {
      await vscode.env.clipboard.writeText(nodes.map((node) => node.file).join("\n"));
    }
  }

  private async remove(nodes: readonly RunNode[]): Promise<void> {
    const runs = runsOf(nodes);
    if (runs.length === 0) {
      return;
    }
    if (nodes.some(isGoing)) {
      await messages.info("A run that is being recorded cannot be deleted. Stop it first.");
      return;
    }
    const { question, detail } = deleteQuestion(nodes, new Date());
    if (!(await messages.confirm(question, detail, "Delete"))) {
      return;
    }
    try {
      await this.store.remove(runs);
      const open = this.results.summary?.path;
      if (runs.some((run) => run.path === open)) {
        await this.results.clear();
      }
    } catch (error) {
      await messages.showTrouble(this.engine.log, "Deleting runs", error);
    }
  }
}
