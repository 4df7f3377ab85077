/** Two traces compared: what appeared, vanished, got slower or faster, each row a way into its trace. */
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { ProgressType, type WorkDoneProgressReport } from "vscode-languageclient/node";
import { troubleOf, troubleText } from "../core/errors";
import type { EventsComparison } from "../core/protocol";
import {
  differenceRow,
  type FromTraceCompare,
  type ToTraceCompare,
  type TraceComparison,
  traceComparison,
} from "../core/trace/compare";
import { traceFolderOf } from "../core/trace/runs";
import { traceCompareHtml } from "../views/traceTables";
import type { Engine } from "./engine";
import { TablePanel, TablePanels } from "./tablePanel";
import { fileOf, type Target } from "./target";
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
    this.panels = new TablePanels("fulcrum.traceCompare", extensionUri);
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

  private async open(pair: Pair): Promise<void> {
    const made = this.panels.open(
      "Traces compared",
      (panel) => new ComparePanel(this.engine, this.traces, this.extensionUri, panel, pair),
    );
    await made.load();
  }
}

/** One comparison, with a session for each of its traces. */
class ComparePanel extends TablePanel<ToTraceCompare, FromTraceCompare> {
  comparison: TraceComparison | undefined;
  private ids: { a: number; b: number } | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly traces: Traces,
    extensionUri: vscode.Uri,
    panel: vscode.WebviewPanel,
    private pair: Pair,
  ) {
    super(panel, extensionUri, "traceCompare", traceCompareHtml);
  }

  override closed(): void {
    void this.close();
  }

  async load(): Promise<void> {
    const [a, b] = [titleOfRun(this.pair.after), titleOfRun(this.pair.before)];
    this.panel.title = `${a} − ${b}`;
    this.show({ type: "loading", a, b, message: "Reading both traces…" });
    try {
      await this.close();
      const open = (run: string) => this.engine.request("fulcrum/events/open", { run });
      const [first, second] = await Promise.all([open(this.pair.after), open(this.pair.before)]);
      this.ids = { a: first.id, b: second.id };
      const found = await this.rows(0);
      this.comparison = traceComparison(a, b, found);
      this.show({ type: "show", comparison: this.comparison, rows: found.rows.map(differenceRow) });
    } catch (error) {
      const trouble = troubleOf(error);
      this.engine.log.error(`Comparing ${a} with ${b}: ${troubleText(trouble)}`);
      this.show({ type: "trouble", text: troubleText(trouble) });
    }
  }

  private async close(): Promise<void> {
    const { ids } = this;
    this.ids = undefined;
    if (ids === undefined || this.engine.state !== "running") {
      return;
    }
    for (const id of [ids.a, ids.b]) {
      try {
        await this.engine.request("fulcrum/events/close", { id });
      } catch (error) {
        this.engine.log.debug(`Closing a trace: ${troubleText(troubleOf(error))}`);
      }
    }
  }

  private async rows(from: number): Promise<EventsComparison> {
    const { ids } = this;
    if (ids === undefined) {
      throw new Error("The traces are closed.");
    }
    const workDoneToken = randomUUID();
    const client = await this.engine.ready();
    const [a, b] = [titleOfRun(this.pair.after), titleOfRun(this.pair.before)];
    const listening = client.onProgress(
      new ProgressType<WorkDoneProgressReport>(),
      workDoneToken,
      ({ message = "" }) => {
        if (from === 0) {
          this.show({ type: "loading", a, b, message });
        }
      },
    );
    try {
      return await this.engine.request("fulcrum/events/compare", { ...ids, from, count: pageRows, workDoneToken });
    } finally {
      listening.dispose();
    }
  }

  protected override async answer(message: Exclude<FromTraceCompare, { type: "ready" }>): Promise<void> {
    switch (message.type) {
      case "more":
        this.add({ type: "more", from: message.from, rows: (await this.rows(message.from)).rows.map(differenceRow) });
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
