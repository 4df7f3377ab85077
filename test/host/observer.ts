/** What the extension shows: what it reports, and what core functions compute from what is open. */
import type * as vscode from "vscode";
import {
  type LiveParams,
  type NavigatorStep,
  type ProfileSummary,
  requests,
} from "../../extension/core/engine/protocol";
import type { Marks } from "../../extension/core/marks";
import { type RowModel, rowModel } from "../../extension/core/navigator/lists";
import type { NavigatorModel } from "../../extension/core/navigator/model";
import { navigatorShown } from "../../extension/core/navigator/navigationState";
import type { RunNode } from "../../extension/core/runs/runs";
import type { MarksSource, Shown } from "../../extension/core/shown";
import type { Fulcrum } from "../../extension/extension";
import type { RankingNode } from "../../extension/features/causal/ranking";
import type { EngineState } from "../../extension/features/editor/engine";

export interface ShownRun {
  node: RunNode;
  label: string;
  description: string;
  context: string;
}

export class Observer {
  readonly restored: Promise<void>;
  private readonly said: string[] = [];
  private readonly shownPages: unknown[] = [];
  private ready = 0;
  private status: string | null = null;
  private readonly marks = new Map<string, Marks>();
  private readonly unsettled = new Set<MarksSource>();

  constructor(readonly app: Fulcrum) {
    this.restored = app.restored;
    app.onDidShow((shown) => this.record(shown));
  }

  /** Calls the listener after each report was recorded. */
  onDidChange(listener: () => void): { dispose(): void } {
    return this.app.onDidShow(() => listener());
  }

  enginePid(): number | undefined {
    return this.app.engine.pid;
  }

  engineState(): EngineState {
    return this.app.engine.state;
  }

  summary(): ProfileSummary | null {
    return this.app.results.summary;
  }

  runMessage(): string | undefined {
    return this.app.results.run?.message;
  }

  live(): LiveParams | null | undefined {
    return this.app.results.run?.live;
  }

  /** The Ranking's labels and descriptions, without groups. */
  ranking(): { label: string; description: string }[] {
    const { ranking } = this.app;
    const flat = (node: RankingNode): RankingNode[] => [node, ...ranking.getChildren(node).flatMap(flat)];
    return ranking
      .getChildren()
      .flatMap(flat)
      .map((node) => {
        const item = ranking.getTreeItem(node);
        return { label: String(item.label), description: String(item.description ?? "") };
      });
  }

  /** The rows of the Runs view, iterations below their loop. */
  runs(): ShownRun[] {
    const { runs } = this.app;
    const flat = (node: RunNode): RunNode[] => [node, ...(node.type === "loop" ? node.runs : [])];
    return runs.nodes.flatMap(flat).map((node) => {
      const { label, description, contextValue } = runs.getTreeItem(node);
      return { node, label: String(label), description: String(description), context: contextValue ?? "" };
    });
  }

  /** The text of the status bar item; `undefined` while it is hidden. */
  statusText(): string | undefined {
    return this.status ?? undefined;
  }

  /** What the Navigator's page shows for the open profile. */
  navigator(): NavigatorModel | undefined {
    const shown = navigatorShown(this.app.navigation.state, undefined);
    return shown.kind === "open" ? shown.model : undefined;
  }

  /** The first rows of one of its lists. */
  async navigatorRows(step: NavigatorStep, count: number): Promise<RowModel[]> {
    const { open } = this.app.navigation;
    if (open === undefined) {
      return [];
    }
    const { opened, view } = open;
    const params = { id: opened.id, revision: view.revision, step, from: 0, count };
    const { rows } = await this.app.engine.request(requests.NavigatorGetRows, params);
    return rows.map((row) => rowModel(row, step, view));
  }

  hotLines(uri: vscode.Uri): Marks | undefined {
    return this.marks.get(keyOf("profile", uri.toString()));
  }

  currentDecorations(uri: vscode.Uri): Marks | undefined {
    return this.marks.get(keyOf("causal", uri.toString()));
  }

  /** Whether the marks in all editors are the engine's answer for the current text. */
  marksSettled(): boolean {
    return this.unsettled.size === 0;
  }

  /** How many pages have loaded. */
  pagesReady(): number {
    return this.ready;
  }

  /** The messages to pages, oldest first. */
  pages(): readonly unknown[] {
    return this.shownPages;
  }

  /** The messages to the user, oldest first. */
  messages(): readonly string[] {
    return this.said;
  }

  private record(shown: Shown): void {
    switch (shown.kind) {
      case "message":
        this.said.push(shown.text);
        break;
      case "status":
        this.status = shown.text;
        break;
      case "pageReady":
        this.ready += 1;
        break;
      case "page":
        this.shownPages.push(shown.message);
        break;
      case "marks":
        this.marks.set(keyOf(shown.source, shown.uri), shown.marks);
        break;
      case "settled":
        if (shown.settled) {
          this.unsettled.delete(shown.source);
        } else {
          this.unsettled.add(shown.source);
        }
        break;
      case "view":
        break;
    }
  }
}

function keyOf(source: MarksSource, uri: string): string {
  return `${source} ${uri}`;
}
