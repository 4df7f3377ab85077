/** The refine loop: one click runs a traced program again and again, each time with fewer probes. */
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { troubleOf, troubleText } from "../core/errors";
import { REFINE_LIVE, type RefineLiveParams, type RefineOutcome } from "../core/protocol";
import { joinShellWords } from "../core/shellWords";
import { type FromRefine, methodText, type RefineModel, refineRows } from "../core/trace/refine";
import { runName, type TracedProgram, traceFolderOf } from "../core/trace/runs";
import { refineHtml } from "../views/traceTables";
import type { Engine } from "./engine";
import * as messages from "./messages";
import { programOrTrouble, type Traces, workspaceOf } from "./traces";
import { pageAssets, pageOptions } from "./webviewAssets";

const viewType = "fulcrum.refine";

export class Refine implements vscode.Disposable {
  private readonly panels = new Set<RefinePanel>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly engine: Engine,
    private readonly traces: Traces,
    private readonly extensionUri: vscode.Uri,
  ) {
    this.subscriptions = [
      vscode.commands.registerCommand("fulcrum.trace.refine", (target?: vscode.Uri | string) => this.refine(target)),
    ];
  }

  /** What the newest panel shows: for tests. */
  get shown(): RefineModel | undefined {
    return [...this.panels].at(-1)?.model;
  }

  dispose(): void {
    for (const subscription of [...this.subscriptions, ...[...this.panels].map((it) => it.panel)]) {
      subscription.dispose();
    }
  }

  private async refine(target: vscode.Uri | string | undefined): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      await messages.warn("Running a program needs a trusted workspace. Traces can be opened and read without.");
      return;
    }
    if ([...this.panels].some((panel) => panel.model.state === "going")) {
      await messages.info("Fulcrum is already refining. Stop it, or wait until it ends.");
      return;
    }
    const chosen = typeof target === "string" ? target : (target?.fsPath ?? (await this.traces.choose("Refine Trace")));
    const run = chosen === undefined ? undefined : traceFolderOf(chosen);
    const program = run === undefined ? undefined : await programOrTrouble(run);
    if (run === undefined || program === undefined) {
      return;
    }
    const panel = vscode.window.createWebviewPanel(viewType, "Refine", vscode.ViewColumn.Active, {
      ...pageOptions(this.extensionUri),
      retainContextWhenHidden: true,
    });
    const view = new RefinePanel(this.engine, this.extensionUri, panel, run, program);
    this.panels.add(view);
    panel.onDidDispose(() => {
      this.panels.delete(view);
      view.cancel();
    });
    await view.start();
  }
}

/** One loop. */
class RefinePanel {
  model: RefineModel;
  private token = "";
  private ready = false;
  private lastRun: string;

  constructor(
    private readonly engine: Engine,
    extensionUri: vscode.Uri,
    readonly panel: vscode.WebviewPanel,
    run: string,
    private readonly program: TracedProgram,
  ) {
    this.lastRun = run;
    this.model = {
      title: `Refine ${runName(run)}`,
      command: joinShellWords([program.program, ...program.args]),
      state: "going",
      message: "starting",
      fraction: 0,
      rows: [],
      hotspots: [],
      filter: null,
      notes: [],
    };
    panel.title = this.model.title;
    panel.iconPath = vscode.Uri.joinPath(extensionUri, "media", "icon.svg");
    panel.webview.onDidReceiveMessage((message: FromRefine) => this.receive(message));
    panel.webview.html = refineHtml({
      ...pageAssets(panel.webview, extensionUri, "refine"),
      style: pageAssets(panel.webview, extensionUri, "trace").style,
    });
  }

  async start(): Promise<void> {
    this.token = randomUUID();
    const settings = vscode.workspace.getConfiguration("fulcrum");
    const rule = settings.get<string>("refine.rule", "").trim();
    let listening: vscode.Disposable | undefined;
    try {
      const client = await this.engine.ready();
      listening = this.listen(client);
      const outcome = await client.sendRequest<RefineOutcome>("fulcrum/refine/start", {
        ...this.program,
        workspace: workspaceOf(this.program.cwd),
        from: { kind: "run", run: this.lastRun },
        iterations: settings.get<number>("refine.iterations", 6),
        runs: settings.get<number>("refine.runs", 3),
        ...(rule === "" ? {} : { rule }),
        workDoneToken: this.token,
      });
      const { iterations, hotspots, filter, notes } = outcome;
      this.lastRun = iterations.at(-1)?.run ?? this.lastRun;
      this.show({
        state: "done",
        message: outcome.exit,
        fraction: 1,
        rows: refineRows(iterations, false),
        hotspots: hotspots.map(methodText),
        filter,
        notes,
      });
    } catch (error) {
      const trouble = troubleOf(error);
      this.engine.log.error(`Refining ${this.model.command}: ${troubleText(trouble)}`);
      this.show({ state: "failed", message: troubleText(trouble) });
    } finally {
      listening?.dispose();
    }
  }

  /** Stops the program; what was measured stays. */
  cancel(): void {
    if (this.model.state === "going") {
      void this.engine.running?.sendNotification("window/workDoneProgress/cancel", { token: this.token });
    }
  }

  private listen(client: LanguageClient): vscode.Disposable {
    return client.onNotification(REFINE_LIVE, (live: RefineLiveParams) => {
      if (live.token === this.token && this.model.state === "going") {
        this.show({
          message: live.message,
          fraction: live.fraction,
          rows: refineRows(live.iterations, true),
        });
      }
    });
  }

  private show(change: Partial<RefineModel>): void {
    this.model = { ...this.model, ...change };
    if (this.ready) {
      void this.panel.webview.postMessage({ type: "show", model: this.model });
    }
  }

  private async receive(message: FromRefine): Promise<void> {
    switch (message.type) {
      case "ready":
        this.ready = true;
        this.show({});
        break;
      case "cancel":
        this.show({ message: "stopping…" });
        this.cancel();
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
      case "filter":
        if (this.model.filter !== null) {
          await vscode.window.showTextDocument(vscode.Uri.file(this.model.filter));
        }
        break;
    }
  }
}
