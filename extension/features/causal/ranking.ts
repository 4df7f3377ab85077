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
import { bestRow, count } from "../../core/text/format";
import { missing, showLine } from "../editor/places";
import type { FocusOptions } from "../editor/target";
import { coloursOf } from "../marks/themeColours";
import type { Session } from "./session";

type Node =
  | { type: "group"; group: RankingGroup }
  | { type: "row"; row: RankingRow; group: string }
  /** What to do with the results. */
  | { type: "next" }
  | { type: "note"; text: string };

const restricted =
  "Restricted Mode: profiles can be read here. Running a program again needs a trusted workspace (Workspaces: Manage Workspace Trust).";

export class RankingView implements vscode.Disposable, vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<Node>;
  private readonly subscriptions: vscode.Disposable[];
  private nodes: Node[] = [];
  readonly onDidChangeTreeData = this.changed.event;
  readonly onDidChangeVisibility: vscode.Event<unknown>;

  constructor(private readonly session: Session) {
    this.view = vscode.window.createTreeView("fulcrum.ranking", { treeDataProvider: this, showCollapseAll: false });
    this.onDidChangeVisibility = this.view.onDidChangeVisibility;
    this.subscriptions = [
      this.changed,
      this.view,
      session.onDidChangeResults(() => this.update()),
      session.onDidChangeRun(() => this.describe()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.describe()),
      vscode.commands.registerCommand("fulcrum.ranking.open", (focus?: FocusOptions) => this.reveal(focus)),
      vscode.commands.registerCommand("fulcrum.ranking.goto", (row?: RankingRow) => this.goTo(row)),
      vscode.commands.registerCommand("fulcrum.ranking.locate", (node?: Node) =>
        node?.type === "row" ? missing(node.row) : undefined,
      ),
      vscode.commands.registerCommand("fulcrum.ranking.copy", (node?: Node) => copy(node)),
      vscode.commands.registerCommand("fulcrum.ranking.selectProgressPoint", () => this.selectPoint()),
    ];
  }

  get visible(): boolean {
    return this.view.visible;
  }

  /** Labels and descriptions as shown, groups flattened: for tests. */
  get shownRows(): { label: string; description: string }[] {
    const flat = (node: Node): Node[] => [node, ...this.getChildren(node).flatMap(flat)];
    return this.nodes.flatMap(flat).map((node) => {
      const item = this.getTreeItem(node);
      return { label: String(item.label), description: String(item.description ?? "") };
    });
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      return this.nodes;
    }
    return node.type === "group" ? rowsOf(node.group) : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
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

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  private update(): void {
    const model = rankingModel(this.session.rankings);
    const notes = [...new Set([...model.notes, ...(this.session.summary?.notes ?? [])])];
    const rows = model.groups.flatMap((group) =>
      group.progressPoint === null ? rowsOf(group) : [{ type: "group", group } satisfies Node],
    );
    const known = bestRow(this.session.rows) !== undefined && this.session.summary?.live !== true;
    const next: Node[] = known ? [{ type: "next" }] : [];
    this.nodes = [...rows, ...next, ...notes.map((text): Node => ({ type: "note", text }))];
    this.describe();
    this.changed.fire();
  }

  private describe(): void {
    const { summary, run } = this.session;
    this.view.description = summary === null ? "" : summary.live ? `live · ${summary.title}` : summary.title;
    if (run !== null) {
      const shown = summary === null ? "none" : summary.live ? "live" : "other";
      this.view.message = liveMessage(run, path.basename(run.program), shown);
    } else if (summary !== null && !this.session.hasAnswer) {
      this.view.message = hollowMessage(this.session.rankings, this.session.canRunLonger, summary.notes.length);
    } else {
      // Where there are no results, the view's welcome says so.
      this.view.message = summary === null || vscode.workspace.isTrusted ? "" : restricted;
    }
  }

  /** Takes the keyboard focus unless it is to stay where it is. */
  private async reveal(focus: FocusOptions = {}): Promise<void> {
    await vscode.commands.executeCommand("fulcrum.ranking.focus", { preserveFocus: focus.preserveFocus === true });
  }

  private async goTo(row = bestRow(this.session.rows)): Promise<void> {
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
    const points = this.session.summary?.progressPoints ?? [];
    const current = this.session.progressPoint ?? points[0]?.name;
    const choice = await vscode.window.showQuickPick(
      points.map((point) => ({
        label: point.name,
        description: point.name === current ? `${point.kind} · shown now` : point.kind,
        detail: point.kind === "latency" ? "Time from begin to end" : "How often the program passes it",
      })),
      { title: "Progress Point", placeHolder: "Whose speedup to show beside the code" },
    );
    if (choice !== undefined) {
      this.session.choosePoint(choice.label);
    }
  }
}

function rowsOf(group: RankingGroup): Node[] {
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

async function copy(node: Node | undefined): Promise<void> {
  if (node?.type === "row") {
    await vscode.env.clipboard.writeText(rowPlainText(node.row));
  } else if (node?.type === "note") {
    await vscode.env.clipboard.writeText(node.text);
  }
}
