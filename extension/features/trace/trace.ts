/** One trace in an editor panel: its session with the engine, and what its page asks for. */
import * as path from "node:path";
import * as vscode from "vscode";
import { numberText } from "../../core/causal/compare";
import { troubleOf, troubleText } from "../../core/engine/errors";
import type { LongOptions } from "../../core/engine/longRequest";
import {
  type EventsHit,
  type EventsOpened,
  type EventsPart,
  type EventsQueueNames,
  type EventsQueueOrder,
  type EventsQueues,
  type EventsTimeline,
  type NavigatorOpened,
  requests,
} from "../../core/engine/protocol";
import type { Question } from "../../core/page";
import { costText } from "../../core/text/cost";
import { baseName, count } from "../../core/text/format";
import { type FromTrace, type ToTrace, type TraceShown, traceCommands } from "../../core/trace/messages";
import { closeTraces, openTrace } from "../../core/trace/sessions";
import { traceHtml } from "../../views/trace";
import * as messages from "../editor/messages";
import { PagePanel, type PanelContext } from "../editor/pagePanel";
import { openLocation } from "../navigator/frames";
import type { Navigation } from "../navigator/navigation";

const noTimeline: EventsTimeline = { threads: [], collections: { startNs: [], endNs: [] }, names: [] };

export class TracePanel extends PagePanel<ToTrace, FromTrace> {
  private opened: EventsOpened | undefined;
  private queue: EventsQueueNames | null = null;
  private queueText: string | null = null;
  private queueOrder: EventsQueueOrder | null = null;
  private round = 0;
  /** Cancelled when what is being opened is no longer wanted. */
  private opening = new vscode.CancellationTokenSource();

  constructor(
    context: PanelContext,
    panel: vscode.WebviewPanel,
    private readonly navigation: Navigation,
    /** A run's folder, or one log of a run. */
    readonly run: string,
  ) {
    super(context, panel, { script: "trace", html: traceHtml });
    panel.title = titleOfRun(run);
    this.page.remember({ run });
    this.ownAll(
      context.engine.onDidRestart(() => void this.open()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.show()),
    );
  }

  override dispose(): void {
    super.dispose();
    this.opening.cancel();
    void this.close();
  }

  /** Opens the trace, or opens it again in a new engine. */
  async open(): Promise<void> {
    const title = titleOfRun(this.run);
    this.opening.cancel();
    this.opening = new vscode.CancellationTokenSource();
    const { token } = this.opening;
    this.opened = undefined;
    this.page.show({ type: "opening", title, message: "", fraction: null });
    try {
      this.opened = await openTrace(this.engine, this.run, {
        token,
        onCancel: "drop",
        report: ({ message = "", percentage }) =>
          this.page.show({
            ...{ type: "opening", title, message },
            fraction: percentage === undefined ? null : percentage / 100,
          }),
      });
      await this.firstQueue(this.opened);
      this.show();
    } catch (error) {
      if (token.isCancellationRequested) {
        return;
      }
      const trouble = troubleOf(error);
      this.engine.log.error(`Opening ${this.run}: ${troubleText(trouble)}`);
      this.page.show({ type: "trouble", text: troubleText(trouble) });
    }
  }

  /** The calls of a part as a call tree; opens the trace first when the engine does not know it. */
  async tree(part: EventsPart, long: LongOptions): Promise<NavigatorOpened> {
    const { opened } = this;
    const fold = (id: number) => this.engine.long(requests.EventsOpenTree, { id, part }, long);
    if (opened !== undefined) {
      return fold(opened.id);
    }
    const own = await openTrace(this.engine, this.run, long);
    try {
      return await fold(own.id);
    } finally {
      await closeTraces(this.engine, [own.id]);
    }
  }

  /** Goes to an event. */
  async showNode(thread: number, node: number): Promise<void> {
    if (this.opened !== undefined) {
      await this.find(this.opened.id, thread, node);
    }
  }

  private async close(): Promise<void> {
    const { opened } = this;
    this.opened = undefined;
    await closeTraces(this.engine, opened === undefined ? [] : [opened.id]);
  }

  /** The likeliest queue, if replaying it makes sense: a pair of methods may only look like one. */
  private async firstQueue(opened: EventsOpened): Promise<void> {
    [this.queue, this.queueText, this.queueOrder] = [null, null, null];
    for (const names of opened.queues.slice(0, 5)) {
      const replayed = await this.replay(opened, names);
      if (looksLikeQueue(replayed)) {
        [this.queue, this.queueText] = [names, queueSentence(replayed)];
        return;
      }
    }
  }

  private replay(opened: EventsOpened, { put, take }: EventsQueueNames): Promise<EventsQueues> {
    const params = { id: opened.id, put, take, order: this.queueOrder, from: 0, count: 1000 };
    return this.engine.request(requests.EventsGetQueues, params, this.opening.token);
  }

  private show(): void {
    const trace = this.opened;
    if (trace === undefined) {
      return;
    }
    this.round += 1;
    const { queue, queueText, queueOrder } = this;
    const shown: TraceShown = { trace, queue, queueText, queueOrder, canRefine: vscode.workspace.isTrusted };
    this.page.show({ type: "show", shown, round: this.round });
  }

  protected override async answer(message: Question<FromTrace>): Promise<void> {
    const { opened } = this;
    if (opened === undefined) {
      return;
    }
    const { id } = opened;
    switch (message.type) {
      case "rows": {
        const { round, wanted } = message;
        const { rows } = await this.engine.request(requests.EventsGetChildren, { id, ...wanted });
        this.page.post({ type: "rows", round, wanted, rows });
        break;
      }
      case "timeline":
        await this.timeline(id, message);
        break;
      case "search":
        await this.search(id, message);
        break;
      case "find":
        await this.find(id, message.thread, message.node);
        break;
      case "values":
        await this.values(id, message.thread, message.node);
        break;
      case "source": {
        const { method, name } = message;
        await openLocation(name, await this.engine.request(requests.EventsGetFrame, { id, method }));
        break;
      }
      case "bottlenecks":
        await this.bottlenecks(message.part, message.name);
        break;
      case "filter":
        await this.filter(id, message.part);
        break;
      case "queue":
        await this.choose(opened, message.queue, message.order);
        break;
      case "run":
        if (traceCommands.includes(message.command)) {
          await vscode.commands.executeCommand(`fulcrum.trace.${message.command}`, vscode.Uri.file(this.run));
        }
        break;
    }
  }

  private async timeline(id: number, wanted: Extract<FromTrace, { type: "timeline" }>): Promise<void> {
    const { left, right, width, threads, levelsOf, levels } = wanted;
    const ask = (of: number[], depths: number) =>
      this.engine.request(requests.EventsGetTimeline, {
        id,
        leftNs: Math.floor(left),
        rightNs: Math.ceil(right),
        width: Math.round(width),
        threads: of,
        depths,
      });
    // The page waits for an answer before it asks again.
    let timeline = noTimeline;
    try {
      const others = threads.filter((it) => it !== levelsOf);
      const [states, calls] = await Promise.all([
        ask(others, 0),
        levelsOf === null ? Promise.resolve(noTimeline) : ask([levelsOf], levels),
      ]);
      timeline = { ...calls, collections: states.collections, threads: [...states.threads, ...calls.threads] };
    } finally {
      this.page.post({ type: "timeline", left, right, threads, levelsOf, timeline });
    }
  }

  private async search(id: number, { number, text, from }: Extract<FromTrace, { type: "search" }>): Promise<void> {
    try {
      const found = await this.engine.request(requests.EventsSearch, { id, text, part: {}, count: 200, from });
      this.page.post({ type: "found", number, ...found });
    } catch (error) {
      this.page.post({ type: "notFound", number, why: troubleOf(error).message });
    }
  }

  private async find(id: number, thread: number, node: number): Promise<void> {
    const hit = await this.hit(id, thread, node);
    if (hit !== undefined) {
      this.page.post({ type: "reveal", hit });
    }
  }

  private async values(id: number, thread: number, node: number): Promise<void> {
    // The page waits for an answer before it asks again.
    let text = "";
    try {
      const hit = await this.hit(id, thread, node);
      text = hit?.row.values?.text ?? "";
    } finally {
      this.page.post({ type: "values", thread, node, text });
    }
  }

  /** A node and its way from the top: the first that is found within itself. */
  private async hit(id: number, thread: number, node: number): Promise<EventsHit | undefined> {
    const { hits } = await this.engine.request(requests.EventsSearch, {
      id,
      text: "",
      part: { thread, node },
      count: 1,
    });
    return hits[0];
  }

  private async bottlenecks(part: EventsPart, name: string): Promise<void> {
    const title = `${name} in ${titleOfRun(this.run)}`;
    const open = (long: LongOptions) => this.tree(part, long);
    if (await this.navigation.openSource({ files: [], against: [], derived: { title, open } })) {
      await vscode.commands.executeCommand("fulcrum.navigator.focus");
    }
  }

  /** A filter that observes what matters in this part, as a document to look at and to save. */
  private async filter(id: number, part: EventsPart): Promise<void> {
    const { text, kept, dropped } = await this.engine.request(requests.EventsGetFilter, { id, part });
    const document = await vscode.workspace.openTextDocument({ language: "fulcrum-filter", content: text });
    await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
    messages.showStatus(
      `This filter observes ${count(kept, "method")} and leaves out ${dropped}. Save it to record with it.`,
    );
  }

  private async choose(
    opened: EventsOpened,
    names: EventsQueueNames | null,
    order: EventsQueueOrder | null,
  ): Promise<void> {
    const before = [this.queue, this.queueText, this.queueOrder] as const;
    [this.queue, this.queueText, this.queueOrder] = [names, null, order];
    try {
      if (names !== null) {
        this.queueText = queueSentence(await this.replay(opened, names));
      }
    } catch (error) {
      // The log does not allow this order, for instance: the page goes back to what it shows.
      [this.queue, this.queueText, this.queueOrder] = before;
      throw error;
    } finally {
      this.show();
    }
  }
}

/** Whether it was replayed without a contradiction, and those who put are others than those who take. */
function looksLikeQueue({ requests, summary }: EventsQueues): boolean {
  const putters = new Set(requests.map((request) => request.putThread));
  const apart = requests.every((request) => request.takeThread === null || !putters.has(request.takeThread));
  return apart && summary.taken > 0 && requests.every((request) => request.sure);
}

/** `Queue: 100 requests, 3.98 a second, 24.1 ms of waiting on average, at most 190 ms.` */
function queueSentence({ summary, assumed, notes }: EventsQueues): string {
  const seconds = (value: number) => costText(value * 1e9, "ns");
  const parts = [count(summary.put, "request")];
  if (summary.arrivalRate !== null) {
    parts.push(`${numberText(summary.arrivalRate)} a second`);
  }
  if (summary.waitMeanSeconds !== null) {
    parts.push(`${seconds(summary.waitMeanSeconds)} of waiting on average`);
  }
  if (summary.waitMaxSeconds !== null) {
    parts.push(`at most ${seconds(summary.waitMaxSeconds)}`);
  }
  return [`Queue: ${parts.join(", ")}.`, assumed, ...notes].join(" ");
}

/** `20261122T050708Z-java`, or the log's name with its run's. */
export function titleOfRun(run: string): string {
  const name = baseName(run);
  return name.endsWith(".log") || name === "run.json" ? baseName(path.dirname(run)) : name;
}
