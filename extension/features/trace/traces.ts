/** Traces of Java programs: opening, recording and comparing them. */
import * as path from "node:path";
import * as vscode from "vscode";
import { type RunEntry, requests, type TraceOutcome } from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import { type JavaTarget, javaName } from "../../core/programs/java";
import { keptRun } from "../../core/runs/pair";
import { baseName } from "../../core/text/format";
import { isTraceRun, programOf, type TracedProgram, traceFolderOf } from "../../core/trace/runs";
import { type CommandArgument, fileOf } from "../editor/commandArgument";
import type { Engine } from "../editor/engine";
import { settingsFor, workspaceOf } from "../editor/folders";
import { shownRequest } from "../editor/longRequest";
import * as messages from "../editor/messages";
import { PagePanels } from "../editor/pagePanel";
import type { Navigation } from "../navigator/navigation";
import { buildJava } from "../run/javaBuilds";
import { lastWritten } from "../run/programOutput";
import type { RunStore } from "../runs/runStore";
import { TracePanel } from "./trace";
import { askTrace, type TraceRequest } from "./traceWizard";

/** `name`: what people call the program, when its command does not say. */
type NamedRequest = TraceRequest & { name?: string };

export class Traces extends Owner {
  private readonly panels: PagePanels<TracePanel, string>;
  private isRecording = false;

  constructor(
    readonly engine: Engine,
    private readonly navigation: Navigation,
    private readonly store: RunStore,
    private readonly memory: vscode.Memento,
    readonly extensionUri: vscode.Uri,
  ) {
    super();
    const register = vscode.commands.registerCommand;
    this.panels = new PagePanels("fulcrum.trace", {
      read: keptRun,
      restore: (panel, run) => this.show(run, panel),
    });
    this.ownAll(
      this.panels,
      register("fulcrum.trace.open", (target?: CommandArgument) => this.open(target)),
      register("fulcrum.trace.record", (request?: TraceRequest | { target: JavaTarget }) => this.record(request)),
    );
  }

  /** Opens a trace, and in it one event. */
  async showNode(run: string, thread: number, node: number): Promise<void> {
    await this.open(run);
    await this.panelOf(run)?.showNode(thread, node);
  }

  private panelOf(file: string): TracePanel | undefined {
    return this.panels.find((it) => it.run === file || traceFolderOf(it.run) === file);
  }

  private async open(target: CommandArgument | undefined): Promise<void> {
    const file = fileOf(target) ?? (await this.choose("Open Trace"));
    if (file === undefined) {
      return;
    }
    const open = this.panelOf(file);
    if (open !== undefined) {
      open.panel.reveal();
      return;
    }
    await this.show(file, this.panels.create("Trace"));
  }

  /** Shows a run, or one log of it, in a panel. */
  async show(file: string, panel: vscode.WebviewPanel): Promise<void> {
    await this.panels.add(new TracePanel(this, panel, this.navigation, file)).open();
  }

  /** Asks for a trace that was recorded in this workspace, the newest first, or a file. */
  async choose(title: string, except?: string): Promise<string | undefined> {
    const traces: RunEntry[] = [];
    for (const run of await this.store.list()) {
      if (run.path !== except && (await isTraceRun(run.path))) {
        traces.push(run);
      }
    }
    const browse = "$(folder-opened) An event log…";
    const items = traces
      .sort((a, b) => Date.parse(b.start) - Date.parse(a.start))
      .map((run) => ({
        label: `$(history) ${run.name}`,
        description: new Date(run.start).toLocaleString(),
        detail: run.ended === "exited" ? run.command : `${run.command} (${run.ended})`,
        run,
      }));
    const choice: { label: string; run?: RunEntry } | undefined = await vscode.window.showQuickPick(
      [...items, { label: browse }],
      { title, placeHolder: "A trace of this workspace, or a file", matchOnDescription: true, matchOnDetail: true },
    );
    if (choice?.run !== undefined || choice === undefined) {
      return choice?.run?.path;
    }
    const [uri] =
      (await vscode.window.showOpenDialog({
        title,
        openLabel: "Choose",
        filters: { "Event logs": ["log"], "All files": ["*"] },
      })) ?? [];
    return uri?.fsPath;
  }

  /** Records a whole request at once (a keybinding, a test). Otherwise it asks, about a target for less. */
  private async record(given: TraceRequest | { target: JavaTarget } | undefined): Promise<void> {
    if (!(await messages.mayRun("Traces can still be opened and read."))) {
      return;
    }
    if (this.isRecording) {
      await messages.info("Fulcrum is already recording a trace. Stop it, or wait until it ends.");
      return;
    }
    const request = await this.requestOf(given);
    if (request === undefined) {
      return;
    }
    this.isRecording = true;
    try {
      await this.run(request);
    } catch (error) {
      const edit = "Edit Command…";
      const doing = `Recording ${request.program}`;
      this.isRecording = false;
      if ((await messages.showTrouble(this.engine.log, doing, error, edit)) === edit) {
        await vscode.commands.executeCommand("fulcrum.trace.record");
      }
    } finally {
      this.isRecording = false;
    }
  }

  /** What is asked for, after its build. `undefined` when there is nothing to record. */
  private async requestOf(given: TraceRequest | { target: JavaTarget } | undefined): Promise<NamedRequest | undefined> {
    if (given !== undefined && "program" in given) {
      return given;
    }
    // A menu may hand over something else.
    const asked = await askTrace(this.memory, given?.target?.mainClass === undefined ? undefined : given.target);
    if (asked?.build === undefined) {
      return asked;
    }
    const { build, ...request } = asked;
    const start = await buildJava(build);
    return start && { ...request, args: [...start, ...request.args], name: javaName(build) };
  }

  private async run({ name, ...request }: NamedRequest): Promise<void> {
    const values = settingsFor(request.cwd).get<string[]>("trace.values", []);
    const params = { ...request, values, workspace: workspaceOf(request.cwd) };
    const outcome = await shownRequest(this.engine, requests.TraceStart, params, {
      // Users who start a server must know that it is their turn.
      title: `Recording ${name ?? path.basename(request.program)}. Use it now, for example by sending it requests. Cancel stops it and opens the trace`,
      // The recording ends with its result.
      onCancel: "stop",
    });
    this.engine.log.info(`Recorded ${outcome.run}: ${outcome.exit}`);
    for (const note of outcome.notes) {
      this.engine.log.info(`Note: ${note}`);
    }
    const [log] = outcome.logs;
    // What is said does not keep the next recording waiting.
    if (log === undefined) {
      void this.tellNothing(outcome);
      return;
    }
    await this.open(outcome.logs.length === 1 ? outcome.run : log);
    if (!outcome.endedNormally) {
      void tellStopped(name, outcome);
    } else if (name !== undefined) {
      void tellEnd(name, outcome.run);
    }
  }

  private async tellNothing({ exit, notes }: TraceOutcome): Promise<void> {
    const showLog = "Show Log";
    const why = notes[0] ?? "It recorded no events: was it a Java program, or one built with -finstrument-functions?";
    if ((await messages.warn(`${exit} ${why}`, showLog)) === showLog) {
      this.engine.log.show();
    }
  }
}

/** For a server, the trace is only the first step: refining finds what is costly in it. */
async function tellStopped(name: string | undefined, { exit, run }: TraceOutcome): Promise<void> {
  if (name === undefined) {
    await messages.info(exit);
    return;
  }
  const refine = "Refine";
  const said = `${exit} The trace has every call. Refine finds the methods of ${name} that cost most.`;
  if ((await messages.info(said, refine)) === refine) {
    await vscode.commands.executeCommand("fulcrum.trace.refine", run);
  }
}

/**
 * A program that was built to be traced has ended by itself. A server that ends at once has written why, and the user cannot
 * see where.
 */
async function tellEnd(name: string, run: string): Promise<void> {
  const written = await lastWritten(run);
  if (written === undefined) {
    return;
  }
  const show = "Show Output";
  const again = "Record Again…";
  const last = written.lines.slice(-2).join(" / ");
  const choice = await messages.info(`${name} ended by itself. It last wrote: ${last}`, show, again);
  if (choice === show) {
    await vscode.window.showTextDocument(vscode.Uri.file(written.file));
  } else if (choice === again) {
    await vscode.commands.executeCommand("fulcrum.trace.record");
  }
}

/** What a run ran; a message when it does not say. */
export async function programOrTrouble(run: string): Promise<TracedProgram | undefined> {
  const program = await programOf(run);
  if (program === undefined) {
    await messages.warn(`${baseName(traceFolderOf(run))} does not say what was run. Record a trace, and refine it.`);
  }
  return program;
}
