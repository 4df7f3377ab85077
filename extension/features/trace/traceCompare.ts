/** Two traces compared: what appeared, vanished, got slower or faster, each row a way into its trace. */
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { type EventsComparison, requests } from "../../core/engine/protocol";
import { against, shortTitle } from "../../core/profiles/titles";
import { didShow } from "../../core/shown";
import {
  type DifferenceRow,
  differenceRow,
  type FromTraceCompare,
  type ToTraceCompare,
  type TraceComparison,
  traceComparison,
} from "../../core/trace/compare";
import { traceFolderOf } from "../../core/trace/runs";
import { closeTraces, openBoth } from "../../core/trace/sessions";
import { traceCompareHtml } from "../../views/traceTables";
import type { Engine } from "../editor/engine";
import { TablePanel, TablePanels } from "../editor/tablePanel";
import { fileOf, type Target } from "../editor/target";
import { titleOfRun } from "./trace";
import type { Traces } from "./traces";

/** Rows that a page asks for at once. */
const pageRows = 100;

interface Pair {
  before: string;
  after: string;
}

export class TraceCompare implements vscode.Disposable {
  private readonly panels: TablePanels<ComparePanel>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly engine: Engine,
    private readonly traces: Traces,
    private readonly extensionUri: vscode.Uri,
  ) {
    this.panels = new TablePanels("fulcrum.traceCompare", (panel, state) => this.restore(panel, state));
    this.subscriptions = [
      this.panels,
      vscode.commands.registerCommand("fulcrum.trace.compare", (target?: Target | Pair) => this.compare(target)),
    ];
  }

  /** What the newest panel shows: for tests. */
  get shown(): TraceComparison | undefined {
    return this.panels.newest?.comparison;
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** With a pair at once; with one trace it asks for the one before; else for both. */
  private async compare(target: Target | Pair | undefined): Promise<void> {
    if (typeof target === "object" && "before" in target) {
      await this.open(target);
      return;
    }
    const after = fileOf(target) ?? (await this.traces.choose("Compare Traces: After the Change"));
    const before =
      after === undefined
        ? undefined
        : await this.traces.choose("Compare Traces: Before the Change", traceFolderOf(after));
    if (after !== undefined && before !== undefined) {
      await this.open({ before, after });
    }
  }

  private async open(pair: Pair, panel = this.panels.create("Traces compared")): Promise<void> {
    await this.panels.add(new ComparePanel(this.engine, this.traces, this.extensionUri, panel, pair)).load();
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

/** One comparison, with a session for each of its traces. */
class ComparePanel extends TablePanel<ToTraceCompare, FromTraceCompare> {
  comparison: TraceComparison | undefined;
  private ids: { a: number; b: number } | undefined;
  /** Cancelled when what is being loaded is no longer wanted. */
  private loading = new vscode.CancellationTokenSource();
  private readonly restarts: vscode.Disposable;

  constructor(
    engine: Engine,
    private readonly traces: Traces,
    extensionUri: vscode.Uri,
    panel: vscode.WebviewPanel,
    private pair: Pair,
  ) {
    super(engine, extensionUri, panel, "traceCompare", traceCompareHtml);
    this.restarts = engine.onDidRestart(() => {
      // Its numbers mean other traces to the new engine, or none.
      this.ids = undefined;
      void this.load();
    });
  }

  override dispose(): void {
    super.dispose();
    this.restarts.dispose();
    this.loading.cancel();
    void this.close();
  }

  async load(): Promise<void> {
    this.loading.cancel();
    this.loading = new vscode.CancellationTokenSource();
    const { token } = this.loading;
    const { before, after } = this.pair;
    const [a, b] = [titleOfRun(after), titleOfRun(before)];
    this.panel.title = shortTitle(`${a}${against}${b}`, 50);
    this.page.remember(this.pair);
    const tell = (message: string) => this.page.show({ type: "loading", a, b, message });
    tell("Reading both traces…");
    try {
      await this.close();
      const ids = await openBoth(this.engine, { a: after, b: before }, token);
      this.ids = ids;
      const found = await this.rows(ids, 0, token, tell);
      this.comparison = traceComparison(a, b, found);
      this.page.show({ type: "show", comparison: this.comparison, rows: found.rows.map(differenceRow) });
      didShow();
    } catch (error) {
      if (token.isCancellationRequested) {
        return;
      }
      const trouble = troubleOf(error);
      this.engine.log.error(`Comparing ${a} with ${b}: ${troubleText(trouble)}`);
      this.page.show({ type: "trouble", text: troubleText(trouble) });
    }
  }

  private async close(): Promise<void> {
    const { ids } = this;
    this.ids = undefined;
    if (ids !== undefined) {
      await closeTraces(this.engine, [ids.a, ids.b]);
    }
  }

  private rows(
    ids: { a: number; b: number },
    from: number,
    token: vscode.CancellationToken,
    tell?: (message: string) => void,
  ): Promise<EventsComparison> {
    return this.engine.long(
      requests.EventsCompare,
      { ...ids, from, count: pageRows },
      { token, onCancel: "drop", report: tell && (({ message = "" }) => tell(message)) },
    );
  }

  private async more(from: number): Promise<void> {
    const { ids } = this;
    const { token } = this.loading;
    if (ids === undefined) {
      return;
    }
    let rows: DifferenceRow[] = [];
    try {
      rows = (await this.rows(ids, from, token)).rows.map(differenceRow);
    } finally {
      // The page waits for an answer before it asks again, unless it is loaded anew.
      if (!token.isCancellationRequested) {
        this.page.post({ type: "more", from, rows });
      }
    }
  }

  protected override async answer(message: Exclude<FromTraceCompare, { type: "ready" }>): Promise<void> {
    switch (message.type) {
      case "more":
        await this.more(message.from);
        break;
      case "swap":
        this.pair = { before: this.pair.after, after: this.pair.before };
        await this.load();
        break;
      case "open": {
        const run = message.side === "a" ? this.pair.after : this.pair.before;
        await this.traces.showNode(run, message.thread, message.node);
        break;
      }
    }
  }
}
