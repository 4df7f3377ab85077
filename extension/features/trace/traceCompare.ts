/** Two traces compared: what appeared, vanished, got slower or faster, each row a way into its trace. */
import * as vscode from "vscode";
import { type EventsComparison, requests } from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import type { Question } from "../../core/page";
import { against, shortTitle } from "../../core/profiles/titles";
import { isPair, type Pair } from "../../core/runs/pair";
import {
  type DifferenceRow,
  differenceRow,
  type FromTraceCompare,
  type ToTraceCompare,
  traceComparison,
} from "../../core/trace/compare";
import { traceFolderOf } from "../../core/trace/runs";
import { closeTraces, openBoth } from "../../core/trace/sessions";
import { traceCompareHtml } from "../../views/traceTables";
import { type CommandArgument, fileOf } from "../editor/commandArgument";
import type { Engine } from "../editor/engine";
import type { PanelContext } from "../editor/pagePanel";
import { PairPanel, PairPanels } from "../editor/pairPanel";
import { titleOfRun } from "./trace";
import type { Traces } from "./traces";

/** Rows that a page asks for at once. */
const pageRows = 100;

export class TraceCompare extends Owner {
  private readonly panels: PairPanels<ComparePanel>;

  constructor(
    engine: Engine,
    private readonly traces: Traces,
    extensionUri: vscode.Uri,
  ) {
    super();
    const context = { engine, extensionUri };
    this.panels = new PairPanels(
      "fulcrum.traceCompare",
      "Traces compared",
      (panel, pair) => new ComparePanel(context, panel, traces, pair),
    );
    this.ownAll(
      this.panels,
      vscode.commands.registerCommand("fulcrum.trace.compare", (target?: CommandArgument | Pair) =>
        this.compare(target),
      ),
    );
  }

  /** Compares a pair at once; with one trace it asks for the one before the change, else for both. */
  private async compare(target: CommandArgument | Pair | undefined): Promise<void> {
    if (isPair(target)) {
      await this.panels.open(target);
      return;
    }
    const after = fileOf(target) ?? (await this.traces.choose("Compare Traces: After the Change"));
    const before =
      after === undefined
        ? undefined
        : await this.traces.choose("Compare Traces: Before the Change", traceFolderOf(after));
    if (after !== undefined && before !== undefined) {
      await this.panels.open({ before, after });
    }
  }
}

/** One comparison, with a session for each of its traces. */
class ComparePanel extends PairPanel<ToTraceCompare, FromTraceCompare> {
  private ids: { a: number; b: number } | undefined;

  constructor(
    context: PanelContext,
    panel: vscode.WebviewPanel,
    private readonly traces: Traces,
    pair: Pair,
  ) {
    super(context, panel, { script: "traceCompare", style: "trace", html: traceCompareHtml }, pair);
    this.own(
      context.engine.onDidRestart(() => {
        // A new engine knows other traces by these numbers, or none.
        this.ids = undefined;
        void this.load();
      }),
    );
  }

  override dispose(): void {
    super.dispose();
    void this.close();
  }

  protected override titleOf({ before, after }: Pair): string {
    return shortTitle(`${titleOfRun(after)}${against}${titleOfRun(before)}`, 50);
  }

  protected override async compare({ before, after }: Pair, token: vscode.CancellationToken): Promise<void> {
    const [a, b] = [titleOfRun(after), titleOfRun(before)];
    const report = (message: string) => this.page.show({ type: "loading", a, b, message });
    report("Reading both traces…");
    await this.close();
    const ids = await openBoth(this.engine, { a: after, b: before }, token);
    this.ids = ids;
    const found = await this.rows(ids, 0, token, report);
    this.page.show({ type: "show", comparison: traceComparison(a, b, found), rows: found.rows.map(differenceRow) });
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
    report?: (message: string) => void,
  ): Promise<EventsComparison> {
    return this.engine.long(
      requests.EventsCompare,
      { ...ids, from, count: pageRows },
      { token, onCancel: "drop", report: report && (({ message = "" }) => report(message)) },
    );
  }

  private async more(from: number): Promise<void> {
    const { ids } = this;
    const { token } = this;
    if (ids === undefined) {
      return;
    }
    let rows: DifferenceRow[] = [];
    try {
      rows = (await this.rows(ids, from, token)).rows.map(differenceRow);
    } finally {
      // The page waits for an answer before it asks again, unless it is loaded again.
      if (!token.isCancellationRequested) {
        this.page.post({ type: "more", from, rows });
      }
    }
  }

  protected override async answer(message: Question<FromTraceCompare>): Promise<void> {
    switch (message.type) {
      case "more":
        await this.more(message.from);
        break;
      case "swap":
        await this.swap();
        break;
      case "open": {
        const run = message.side === "a" ? this.pair.after : this.pair.before;
        await this.traces.showNode(run, message.thread, message.node);
        break;
      }
    }
  }
}
