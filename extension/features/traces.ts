/** Traces of Java programs: opening, recording and comparing them. */
import * as path from "node:path";
import * as vscode from "vscode";
import { baseName } from "../core/format";
import { type EventsOpened, type RunEntry, requests } from "../core/protocol";
import { isTraceRun, programOf, type TracedProgram, traceFolderOf } from "../core/trace/runs";
import type { Engine } from "./engine";
import { workspaceOf } from "./folders";
import { shownRequest } from "./longRequest";
import * as messages from "./messages";
import type { Navigation } from "./navigation";
import type { RunStore } from "./runStore";
import { fileOf, type Target } from "./target";
import { TracePanel, type TraceState, traceViewType } from "./trace";
import { askTrace, type TraceRequest } from "./traceWizard";

export class Traces implements vscode.Disposable {
  private readonly panels = new Set<TracePanel>();
  private recording = false;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly engine: Engine,
    private readonly navigation: Navigation,
    private readonly store: RunStore,
    private readonly memory: vscode.Memento,
    private readonly extensionUri: vscode.Uri,
  ) {
    const register = vscode.commands.registerCommand;
    this.subscriptions = [
      register("fulcrum.trace.open", (target?: Target) => this.open(target)),
      register("fulcrum.trace.record", (request?: TraceRequest) => this.record(request)),
      vscode.window.registerWebviewPanelSerializer(traceViewType, {
        deserializeWebviewPanel: (panel, state) => this.restore(panel, state),
      }),
    ];
  }

  /** What the newest panel shows: for tests. */
  get shown(): EventsOpened | undefined {
    return [...this.panels].at(-1)?.shown;
  }

  dispose(): void {
    for (const subscription of [...this.subscriptions, ...[...this.panels].map((it) => it.panel)]) {
      subscription.dispose();
    }
  }

  /** Opens a trace, and in it one event. */
  async showNode(run: string, thread: number, node: number): Promise<void> {
    await this.open(run);
    await this.panelOf(run)?.showNode(thread, node);
  }

  private panelOf(file: string): TracePanel | undefined {
    return [...this.panels].find((it) => it.run === file || traceFolderOf(it.run) === file);
  }

  private async open(target: Target | undefined): Promise<void> {
    const file = fileOf(target) ?? (await this.choose("Open Trace"));
    if (file === undefined) {
      return;
    }
    const there = this.panelOf(file);
    if (there !== undefined) {
      there.panel.reveal();
      return;
    }
    const panel = vscode.window.createWebviewPanel(traceViewType, "Trace", vscode.ViewColumn.Active, {
      retainContextWhenHidden: true,
      enableFindWidget: false,
    });
    await this.show(file, panel);
  }

  /** The window was reloaded. */
  private async restore(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const { run } = (state ?? {}) as Partial<TraceState>;
    if (typeof run !== "string") {
      panel.dispose();
      return;
    }
    await this.show(run, panel);
  }

  /** Shows a run, or one log of it, in a panel that is there. */
  async show(file: string, panel: vscode.WebviewPanel): Promise<void> {
    const shown = new TracePanel(this.engine, this.navigation, this.extensionUri, panel, file);
    this.panels.add(shown);
    panel.onDidDispose(() => {
      this.panels.delete(shown);
      shown.dispose();
    });
    await shown.open();
  }

  /** A trace that was recorded in this workspace, the newest first. */
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

  /** With a whole request it records at once (a keybinding, a test); else it asks. */
  private async record(given: TraceRequest | undefined): Promise<void> {
    if (!(await messages.mayRun("Traces can be opened and read without."))) {
      return;
    }
    if (this.recording) {
      await messages.info("Fulcrum is already recording a trace. Stop it, or wait until it ends.");
      return;
    }
    const request = given?.program === undefined ? await askTrace(this.memory) : given;
    if (request === undefined) {
      return;
    }
    this.recording = true;
    try {
      await this.run(request);
    } catch (error) {
      const edit = "Edit Command…";
      const doing = `Recording ${request.program}`;
      this.recording = false;
      if ((await messages.showTrouble(this.engine.log, doing, error, edit)) === edit) {
        await vscode.commands.executeCommand("fulcrum.trace.record");
      }
    } finally {
      this.recording = false;
    }
  }

  private async run(request: TraceRequest): Promise<void> {
    const params = { ...request, workspace: workspaceOf(request.cwd) };
    const outcome = await shownRequest(this.engine, requests.TraceStart, params, {
      title: `Recording ${path.basename(request.program)}`,
      // The recording ends with its result.
      onCancel: "stop",
    });
    this.engine.log.info(`Recorded ${outcome.run}: ${outcome.exit}`);
    for (const note of outcome.notes) {
      this.engine.log.info(`Note: ${note}`);
    }
    const [log] = outcome.logs;
    if (log === undefined) {
      const showLog = "Show Log";
      const why =
        outcome.notes[0] ?? "It recorded no events: was it a Java program, or one built with -finstrument-functions?";
      if ((await messages.warn(`${outcome.exit} ${why}`, showLog)) === showLog) {
        this.engine.log.show();
      }
      return;
    }
    await this.open(outcome.logs.length === 1 ? outcome.run : log);
    if (!outcome.endedNormally) {
      await messages.info(outcome.exit);
    }
  }
}

/** What a run ran; a message when it does not say. */
export async function programOrTrouble(run: string): Promise<TracedProgram | undefined> {
  const program = await programOf(run);
  if (program === undefined) {
    await messages.warn(
      `${baseName(traceFolderOf(run))} does not say what was run. Record a trace, and refine that one.`,
    );
  }
  return program;
}
