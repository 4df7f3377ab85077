/** The refine loop: one click runs a traced program again and again, each time with fewer probes. */
import * as vscode from "vscode";
import { durationProblem, parseDuration } from "../../core/causal/runRequest";
import { Cancelled, troubleOf, troubleText } from "../../core/engine/errors";
import { type RefineLiveParams, type RefineOutcome, requests } from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import type { Question } from "../../core/page";
import { keptRun } from "../../core/runs/pair";
import {
  type FromRefine,
  hotspotsOf,
  methodText,
  type RefineModel,
  refineRows,
  type ToRefine,
} from "../../core/trace/refine";
import { programOf, runName, shownCommand, type TracedProgram, traceFolderOf, wasStopped } from "../../core/trace/runs";
import { refineHtml } from "../../views/traceTables";
import { type CommandArgument, fileOf } from "../editor/commandArgument";
import type { Engine } from "../editor/engine";
import { settingsFor, workspaceOf } from "../editor/folders";
import * as messages from "../editor/messages";
import { PagePanel, PagePanels, type PanelContext } from "../editor/pagePanel";
import { openLocation } from "../navigator/frames";
import { programOrTrouble, type Traces } from "./traces";

export class Refine extends Owner {
  private readonly panels: PagePanels<RefinePanel, string>;
  /** The loop in progress, even while it is stopping and its panel is closed. */
  private current: RefinePanel | undefined;
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  /** A loop began, went on to another run, or ended. */
  readonly onDidChange = this.changed.event;

  constructor(
    readonly engine: Engine,
    private readonly traces: Traces,
    readonly extensionUri: vscode.Uri,
  ) {
    super();
    this.panels = new PagePanels("fulcrum.refine", {
      read: keptRun,
      restore: (panel, run) => this.restore(panel, run),
    });
    this.ownAll(
      this.panels,
      vscode.commands.registerCommand("fulcrum.trace.refine", (target?: CommandArgument) => this.refine(target)),
      vscode.commands.registerCommand("fulcrum.trace.openLoop", (target?: CommandArgument) => this.openLoop(target)),
    );
  }

  /** The last run of the loop in progress. */
  get currentRun(): string | undefined {
    return this.current?.lastRun;
  }

  private async refine(target: CommandArgument | undefined): Promise<void> {
    if (!(await messages.mayRun("Traces can still be opened and read."))) {
      return;
    }
    if (this.refuseSecond()) {
      return;
    }
    const chosen = fileOf(target) ?? (await this.traces.choose("Refine Trace"));
    const run = chosen === undefined ? undefined : traceFolderOf(chosen);
    const program = run === undefined ? undefined : await programOrTrouble(run);
    if (run === undefined || program === undefined) {
      return;
    }
    const session = (await wasStopped(run)) ? await askSession(runName(run)) : null;
    if (session !== undefined && !this.refuseSecond()) {
      this.current = this.panelOf(run, program);
      try {
        await this.current.start(program, session);
      } finally {
        this.current = undefined;
        this.changed.fire();
      }
    }
  }

  /** Whether a loop is in progress; if so, a message says so. */
  private refuseSecond(): boolean {
    if (this.current === undefined) {
      return false;
    }
    void messages.info(
      this.current.model.stopping
        ? "Fulcrum is still stopping the last refine loop. Wait until it has ended."
        : "Fulcrum is already refining. Stop it, or wait until it ends.",
    );
    return true;
  }

  /** Opens the table of a loop, from the folder of one of its runs. */
  private async openLoop(target: CommandArgument | undefined): Promise<void> {
    const run = fileOf(target);
    if (run === undefined) {
      return;
    }
    const open = this.panels.find((panel) => panel.lastRun === run);
    if (open !== undefined) {
      open.panel.reveal();
      return;
    }
    try {
      const outcome = await this.engine.request(requests.RefineOpen, { run });
      this.panelOf(run, await programOf(run)).finish(outcome);
    } catch (error) {
      const openTrace = "Open Trace";
      const doing = `Opening the refine loop of ${run}`;
      if ((await messages.showTrouble(this.engine.log, doing, error, openTrace)) === openTrace) {
        await vscode.commands.executeCommand("fulcrum.trace.open", run);
      }
    }
  }

  /** A loop that was in progress when the window was reloaded has ended with its engine. */
  private async restore(panel: vscode.WebviewPanel, run: string): Promise<void> {
    const restored = this.panelOf(run, await programOf(run), panel);
    try {
      restored.finish(await this.engine.request(requests.RefineOpen, { run }));
    } catch (error) {
      restored.fail(error);
    }
  }

  private panelOf(
    run: string,
    program: TracedProgram | undefined,
    panel = this.panels.create(`Refine ${runName(run)}`),
  ): RefinePanel {
    const changed = () => this.changed.fire();
    return this.panels.add(new RefinePanel(this, panel, run, program, changed));
  }
}

/**
 * Asks how long each session lasts in a program that does not end by itself, in seconds; `null`: it runs to its end after
 * all. `undefined` when the user dismissed the question.
 */
async function askSession(name: string): Promise<number | null | undefined> {
  const typed = await vscode.window.showInputBox({
    title: "Refine Trace",
    value: "5",
    prompt: `${name} does not end by itself, so its recording was stopped. Refining starts it again and observes it repeatedly, each time for this many seconds. Keep using it until the loop ends, for example by sending it requests. Empty: each run goes on until the program ends.`,
    ignoreFocusOut: true,
    validateInput: durationProblem,
  });
  return typed === undefined ? undefined : parseDuration(typed);
}

/** One loop. */
class RefinePanel extends PagePanel<ToRefine, FromRefine> {
  model: RefineModel;
  /** Of the loop in progress. */
  private token: string | undefined;
  private isKeptRunning = false;
  private readonly cancelling = new vscode.CancellationTokenSource();

  constructor(
    context: PanelContext,
    panel: vscode.WebviewPanel,
    /** The run that it began with, and then the run of its last iteration. */
    public lastRun: string,
    program: TracedProgram | undefined,
    private readonly changed: () => void,
  ) {
    super(context, panel, { script: "refine", style: "trace", html: refineHtml });
    this.model = {
      title: `Refine ${runName(lastRun)}`,
      command: program === undefined ? "" : shownCommand(program),
      state: "done",
      stopping: false,
      message: "",
      fraction: 0,
      rows: [],
      hotspots: [],
      filter: null,
      notes: [],
    };
  }

  /** @param session how long each session lasts in a program that keeps running, in seconds; `null`: it ends by itself */
  async start(program: TracedProgram, session: number | null): Promise<void> {
    this.isKeptRunning = session !== null;
    this.change({ state: "going", message: "starting" });
    const settings = settingsFor(program.cwd);
    const rule = settings.get<string>("refine.rule", "").trim();
    const listening = this.engine.onDidReportRefine((live) => this.report(live));
    try {
      const params = {
        ...program,
        workspace: workspaceOf(program.cwd),
        from: { kind: "run", run: this.lastRun },
        iterations: settings.get<number>("refine.iterations", 6),
        runs: settings.get<number>("refine.runs", 3),
        ...(rule === "" ? {} : { rule }),
        ...(session === null ? {} : { keepRunningSeconds: session }),
      } as const;
      const outcome = await this.engine.long(requests.RefineStart, params, {
        token: this.cancelling.token,
        // What was measured stays.
        onCancel: "stop",
        begun: (token) => {
          this.token = token;
        },
      });
      this.finish(outcome);
    } catch (error) {
      if (error instanceof Cancelled) {
        this.change({ state: "failed", message: "It was stopped before it began." });
      } else {
        this.fail(error);
      }
    } finally {
      listening.dispose();
      this.token = undefined;
    }
  }

  /** Shows the outcome of a loop that ended, now or long ago. */
  finish({ iterations, exit, hotspots, filter, notes }: RefineOutcome): void {
    this.lastRun = iterations.at(-1)?.run ?? this.lastRun;
    const rows = refineRows(iterations, "done");
    this.change({
      ...{ state: "done", message: exit, fraction: 1, rows },
      ...{ hotspots: hotspotsOf(hotspots), filter, notes },
    });
  }

  fail(error: unknown): void {
    const trouble = troubleOf(error);
    this.engine.log.error(`Refining ${this.model.command}: ${troubleText(trouble)}`);
    this.change({ state: "failed", message: troubleText(trouble) });
  }

  override dispose(): void {
    super.dispose();
    this.stop();
  }

  /** Stops the program; what was measured stays. */
  private stop(): void {
    if (this.model.state === "going" && !this.model.stopping) {
      this.change({ stopping: true });
      this.cancelling.cancel();
    }
  }

  private report(live: RefineLiveParams): void {
    if (live.token === this.token && this.model.state === "going") {
      this.lastRun = live.iterations.at(-1)?.run ?? this.lastRun;
      this.change({
        message: this.isKeptRunning ? `${live.message} · keep using it` : live.message,
        fraction: live.fraction,
        rows: refineRows(live.iterations, "going"),
      });
    }
  }

  private async openSource(method: string): Promise<void> {
    const name = methodText(method);
    try {
      await openLocation(name, await this.engine.request(requests.RefineGetFrame, { run: this.lastRun, method }));
    } catch (error) {
      await messages.showTrouble(this.engine.log, `Looking for ${name}`, error);
    }
  }

  private change(change: Partial<RefineModel>): void {
    this.model = { ...this.model, ...change };
    this.page.show({ type: "show", model: this.model });
    this.page.remember({ run: this.lastRun });
    this.changed();
  }

  protected override async answer(message: Question<FromRefine>): Promise<void> {
    switch (message.type) {
      case "cancel":
        this.stop();
        break;
      case "again":
        await vscode.commands.executeCommand("fulcrum.trace.refine", this.lastRun);
        break;
      case "open":
        await vscode.commands.executeCommand("fulcrum.trace.open", message.run);
        break;
      case "compare":
        await vscode.commands.executeCommand("fulcrum.trace.compare", message);
        break;
      case "source":
        await this.openSource(message.method);
        break;
      case "filter":
        if (this.model.filter !== null) {
          await vscode.window.showTextDocument(vscode.Uri.file(this.model.filter));
        }
        break;
    }
  }
}
