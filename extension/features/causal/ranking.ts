/** The ranking view: the profile's lines, best payoff first, as a native tree. */
import * as path from "node:path";
import * as vscode from "vscode";
import { liveMessage } from "../../core/causal/live";
import {
  hollowMessage,
  type RankingGroup,
  rankingModel,
  rowDescription,
  rowPlainText,
  rowTooltip,
} from "../../core/causal/rankingTree";
import { shapeDataUri } from "../../core/causal/shapes";
import type { RankingRow } from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import { bestRow, count } from "../../core/text/format";
import type { FocusOptions } from "../editor/commandArgument";
import { missing, showLine } from "../editor/places";
import { coloursOf } from "../marks/themeColours";
import type { CausalResults } from "./causalResults";

export type RankingNode =
  | { type: "group"; group: RankingGroup }
  | { type: "row"; row: RankingRow; group: string }
  /** What to do with the results. */
  | { type: "next" }
  | { type: "note"; text: string };

const restricted =
  "Restricted Mode: profiles can be read here. Running a program again needs a trusted workspace (Workspaces: Manage Workspace Trust).";

export class RankingView extends Owner implements vscode.TreeDataProvider<RankingNode> {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  private readonly view: vscode.TreeView<RankingNode>;
  private nodes: RankingNode[] = [];
  readonly onDidChangeTreeData = this.changed.event;
  readonly onDidChangeVisibility: vscode.Event<unknown>;

  constructor(private readonly results: CausalResults) {
    super();
    this.view = vscode.window.createTreeView("fulcrum.ranking", { treeDataProvider: this, showCollapseAll: false });
    this.onDidChangeVisibility = this.view.onDidChangeVisibility;
    this.ownAll(
      this.view,
      results.onDidChangeResults(() => this.update()),
      results.onDidChangeRun(() => this.describe()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.describe()),
      vscode.commands.registerCommand("fulcrum.ranking.open", (focus?: FocusOptions) => this.reveal(focus)),
      vscode.commands.registerCommand("fulcrum.ranking.goto", (row?: RankingRow) => this.goTo(row)),
      vscode.commands.registerCommand("fulcrum.ranking.locate", (node?: RankingNode) =>
        node?.type === "row" ? missing(node.row) : undefined,
      ),
      vscode.commands.registerCommand("fulcrum.ranking.copy", (node?: RankingNode) => copy(node)),
      vscode.commands.registerCommand("fulcrum.ranking.selectProgressPoint", () => this.selectPoint()),
    );
  }

  get visible(): boolean {
    return this.view.visible;
  }

  getChildren(node?: RankingNode): RankingNode[] {
    if (node === undefined) {
      return this.nodes;
    }
    return node.type === "group" ? rowsOf(node.group) : [];
  }

  getTreeItem(node: RankingNode): vscode.TreeItem {
    switch (node.type) {
      case "group":
        return groupItem(node.group);
      case "row":
        return rowItem(node.row, node.group);
      case "next":
        return nextItem();
      case "note":
        return noteItem(node.text);
    }
  }

  private update(): void {
    const model = rankingModel(this.results.rankings);
    const notes = [...new Set([...model.notes, ...(this.results.summary?.notes ?? [])])];
    const rows = model.groups.flatMap((group) =>
      group.progressPoint === null ? rowsOf(group) : [{ type: "group", group } satisfies RankingNode],
    );
    const known = bestRow(this.results.rows) !== undefined && this.results.summary?.live !== true;
    const next: RankingNode[] = known ? [{ type: "next" }] : [];
    this.nodes = [...rows, ...next, ...notes.map((text): RankingNode => ({ type: "note", text }))];
    this.describe();
    this.changed.fire();
  }

  private describe(): void {
    const { summary, run } = this.results;
    this.view.description = summary === null ? "" : summary.live ? `live · ${summary.title}` : summary.title;
    if (run !== null) {
      const shown = summary === null ? "none" : summary.live ? "live" : "other";
      this.view.message = liveMessage(run, path.basename(run.program), shown);
    } else if (summary !== null && !this.results.hasAnswer) {
      this.view.message = hollowMessage(this.results.rankings, this.results.canRunLonger, summary.notes.length);
    } else {
      // Where there are no results, the view's welcome says so.
      this.view.message = summary === null || vscode.workspace.isTrusted ? "" : restricted;
    }
  }

  /** Takes the keyboard focus unless it is to stay where it is. */
  private async reveal(focus: FocusOptions = {}): Promise<void> {
    await vscode.commands.executeCommand("fulcrum.ranking.focus", { preserveFocus: focus.preserveFocus === true });
  }

  private async goTo(row = bestRow(this.results.rows)): Promise<void> {
    if (row === undefined) {
      return;
    }
    if (row.uri === null) {
      await missing(row);
      return;
    }
    await showLine(vscode.Uri.parse(row.uri, true), row.line);
  }

  private async selectPoint(): Promise<void> {
    const points = this.results.summary?.progressPoints ?? [];
    const current = this.results.progressPoint ?? points[0]?.name;
    const choice = await vscode.window.showQuickPick(
      points.map((point) => ({
        label: point.name,
        description: point.name === current ? `${point.kind} · shown now` : point.kind,
        detail: point.kind === "latency" ? "Time from begin to end" : "How often the program passes it",
      })),
      { title: "Progress Point", placeHolder: "Whose speedup to show beside the code" },
    );
    if (choice !== undefined) {
      this.results.choosePoint(choice.label);
    }
  }
}

function rowsOf(group: RankingGroup): RankingNode[] {
  return group.rows.map((row) => ({ type: "row", row, group: group.progressPoint ?? "" }));
}

function groupItem(group: RankingGroup): vscode.TreeItem {
  const item = new vscode.TreeItem(group.progressPoint ?? "", vscode.TreeItemCollapsibleState.Expanded);
  item.id = `group:${group.progressPoint}`;
  item.description = `${group.kind ?? ""} · ${count(group.rows.length, "target")}`;
  item.iconPath = new vscode.ThemeIcon(group.kind === "latency" ? "watch" : "milestone");
  item.contextValue = "group";
  return item;
}

/** The id keeps selection and focus while a live run brings new rows. */
function rowItem(row: RankingRow, group: string): vscode.TreeItem {
  const item = new vscode.TreeItem(row.label);
  const stale = row.state === "stale";
  item.description = rowDescription(row);
  item.iconPath = {
    light: vscode.Uri.parse(shapeDataUri(row.shape, coloursOf("light"), stale), true),
    dark: vscode.Uri.parse(shapeDataUri(row.shape, coloursOf("dark"), stale), true),
  };
  item.tooltip = new vscode.MarkdownString(rowTooltip(row));
  item.contextValue = row.uri === null ? "missingLine" : "line";
  item.id = `${group}:${row.target}`;
  item.command = { command: "fulcrum.ranking.goto", title: "Go to Line", arguments: [row] };
  item.accessibilityInformation = { label: rowPlainText(row) };
  return item;
}

function nextItem(): vscode.TreeItem {
  const item = new vscode.TreeItem("Next: speed it up, then compare");
  item.iconPath = new vscode.ThemeIcon("arrow-right");
  item.tooltip =
    "Make the first line faster, build, and run again. This compares both runs: what was predicted, and what happened.";
  item.command = { command: "fulcrum.compare.runs", title: "Compare Runs…" };
  item.id = "next";
  return item;
}

function noteItem(text: string): vscode.TreeItem {
  const item = new vscode.TreeItem(text);
  item.iconPath = new vscode.ThemeIcon("info");
  item.tooltip = text;
  item.contextValue = "note";
  return item;
}

async function copy(node: RankingNode | undefined): Promise<void> {
  if (node?.type === "row") {
    await vscode.env.clipboard.writeText(rowPlainText(node.row));
  } else if (node?.type === "note") {
    await vscode.env.clipboard.writeText(node.text);
  }
}
