/** Opening, clearing and reopening profiles, and noticing runs that end in a terminal. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { RunEntry } from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import { finishedAt, isTransactionRun, newestRun, newestRuns, runFolderOf } from "../../core/runs/runsOnDisk";
import { bestRow, summarySentence } from "../../core/text/format";
import { isEventLog, isTraceRun } from "../../core/trace/runs";
import { type CommandArgument, type FocusOptions, fileOf } from "../editor/commandArgument";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { exists, type RunStore } from "../runs/runStore";
import type { CausalResults } from "./causalResults";
import type { Welcome } from "./welcome";

/** How many of the newest runs are tried to find one with an answer. */
const fewRuns = 5;

export class CausalProfileCommands extends Owner {
  /** Run folders that need no attention: seen finished, or opened by the run that made them. */
  private readonly known = new Set<string>();
  private readonly startedAt = Date.now();

  constructor(
    private readonly engine: Engine,
    private readonly results: CausalResults,
    private readonly store: RunStore,
    private readonly welcome: Welcome,
  ) {
    super();
    const watcher = vscode.workspace.createFileSystemWatcher("**/.fulcrum/runs/*/run.json");
    this.ownAll(
      watcher,
      watcher.onDidCreate((uri) => this.manifestChanged(uri)),
      watcher.onDidChange((uri) => this.manifestChanged(uri)),
      vscode.commands.registerCommand("fulcrum.causal.open", (target?: CommandArgument, focus?: FocusOptions) =>
        this.open(target, focus),
      ),
      vscode.commands.registerCommand("fulcrum.causal.openLast", () => this.openLast()),
      vscode.commands.registerCommand("fulcrum.clearResults", () => this.clear()),
    );
  }

  /** On activation: opens what was open before; else, if the setting says so, the newest run of the workspace. */
  async restore(): Promise<void> {
    const remembered = this.results.remembered;
    let opens = this.results.opens;
    if (remembered !== undefined && "path" in remembered && (await exists(remembered.path))) {
      if (opens === this.results.opens) {
        await this.openQuietly(remembered.path);
      }
      return;
    }
    if (!opensLatest() || !(await this.store.hasRuns())) {
      return;
    }
    const clearedAt = remembered !== undefined && "clearedAt" in remembered ? remembered.clearedAt : undefined;
    const runs = (await this.store.list()).filter((run) => run.ended !== "running");
    const newest = newestRuns(runs, clearedAt).slice(0, fewRuns);
    // The newest with an answer. If none has one, the newest of all.
    for (const run of [...newest, ...newest.slice(0, newest.length > 1 ? 1 : 0)]) {
      if (opens !== this.results.opens || this.results.hasAnswer) {
        return;
      }
      await this.openQuietly(run.path);
      opens += 1;
    }
  }

  /** Marks a run whose result is shown by what started it: its end needs no attention. */
  shownByItself(run: string): void {
    this.known.add(run);
  }

  /** The newest finished run over all workspace folders. */
  async newest(startedAfter?: number): Promise<RunEntry | undefined> {
    const runs = await this.store.list();
    return newestRun(
      runs.filter((run) => run.ended !== "running"),
      startedAfter,
    );
  }

  /** The newest, even when its program is still running. */
  async newestOfAll(startedAfter: number): Promise<RunEntry | undefined> {
    return newestRun(await this.store.list(), startedAfter);
  }

  private async open(target: CommandArgument | undefined, focus?: FocusOptions): Promise<void> {
    const file = fileOf(target) ?? (await this.choose("Open Causal Profile"));
    if (file === undefined) {
      return;
    }
    const profile = runFolderOf(file);
    if (isEventLog(file) || (await isTraceRun(profile))) {
      await vscode.commands.executeCommand("fulcrum.trace.open", isEventLog(file) ? file : profile);
      return;
    }
    try {
      const summary = await this.results.open(profile);
      const best = bestRow(this.results.rows);
      messages.showStatus(summarySentence(summary, best));
      await vscode.commands.executeCommand("fulcrum.ranking.open", focus);
    } catch (error) {
      const another = "Open Another…";
      if ((await messages.showTrouble(this.engine.log, `Opening ${profile}`, error, another)) === another) {
        await this.open(undefined);
      }
    }
  }

  /** Asks for a profile: a run of the workspace (`first` on top), a file, a folder. */
  async choose(title: string, first?: string): Promise<string | undefined> {
    const browse = "$(folder-opened) A profile file…";
    const folder = "$(file-directory) A run folder…";
    const all = await this.recentRuns();
    const runs = [...all.filter((run) => run.path === first), ...all.filter((run) => run.path !== first)];
    let choice: { label: string; run?: RunEntry } | undefined = { label: browse };
    if (runs.length > 0) {
      const entries = runs.slice(0, 20).map((run) => ({
        label: `$(history) ${run.name}`,
        description: `${new Date(run.start).toLocaleString()}${run.path === first ? " · open now" : ""}`,
        detail: run.ended === "exited" ? run.command : `${run.command} (${run.ended})`,
        run,
      }));
      choice = await vscode.window.showQuickPick([...entries, { label: browse }, { label: folder }], {
        title,
        placeHolder: "A run of this workspace, or a file",
        matchOnDescription: true,
        matchOnDetail: true,
      });
    }
    if (choice?.run !== undefined) {
      return choice.run.path;
    }
    if (choice === undefined) {
      return undefined;
    }
    const folders = choice.label === folder;
    const start = vscode.workspace.workspaceFolders?.[0]?.uri;
    const [uri] =
      (await vscode.window.showOpenDialog({
        title,
        openLabel: "Choose",
        canSelectFiles: !folders,
        canSelectFolders: folders,
        ...(start === undefined ? {} : { defaultUri: start }),
        ...(folders ? {} : { filters: { "Causal profiles": ["coz", "jsonl", "json"], "All files": ["*"] } }),
      })) ?? [];
    return uri?.fsPath;
  }

  private async recentRuns(): Promise<RunEntry[]> {
    if (!(await this.store.hasRuns())) {
      return [];
    }
    try {
      return (await this.store.list()).sort((a, b) => Date.parse(b.start) - Date.parse(a.start));
    } catch (error) {
      this.engine.log.warn(`The runs of the workspace could not be listed: ${error}`);
      return [];
    }
  }

  private async openLast(): Promise<void> {
    try {
      const newest = await this.newest();
      if (newest === undefined) {
        const run = "Run Causal Profiler…";
        const choice = await messages.info("This workspace has no recorded run yet.", run);
        if (choice === run) {
          await vscode.commands.executeCommand("fulcrum.causal.run");
        }
        return;
      }
      await this.open(newest.path);
    } catch (error) {
      await messages.showTrouble(this.engine.log, "Looking for the last run", error);
    }
  }

  private async clear(): Promise<void> {
    try {
      await this.results.clear();
    } catch (error) {
      await messages.showTrouble(this.engine.log, "Clearing the results", error);
    }
  }

  /** The user did not ask for this, so a failure goes to the log only. */
  private async openQuietly(profile: string): Promise<void> {
    try {
      const summary = await this.results.open(profile);
      this.engine.log.info(`Opened ${summary.path}.`);
      // Its message may stay for long, and nothing waits for it.
      void this.welcome.opened();
    } catch (error) {
      this.engine.log.warn(`${profile} could not be opened: ${error}`);
    }
  }

  /** A run in a terminal has ended: opens it, if the setting says so. The editor's own run opens its result itself. */
  private async manifestChanged(manifest: vscode.Uri): Promise<void> {
    const folder = path.dirname(manifest.fsPath);
    // The editor's own run shows its result itself. Another one that ends later is news then.
    if (this.results.run !== null) {
      return;
    }
    // One that is open, though its program was still running then, is read again: a window that was reloaded meanwhile.
    if (this.known.has(folder) || (this.results.summary?.path !== folder && !opensLatest())) {
      return;
    }
    const text = Buffer.from(await vscode.workspace.fs.readFile(manifest)).toString("utf8");
    const ended = finishedAt(text);
    // A watcher also reports files that were there before it: only a run that ended since is news. Whole seconds are kept.
    if (ended === undefined || ended < this.startedAt - 1000) {
      return;
    }
    this.known.add(folder);
    if ((await isTraceRun(folder)) || (await isTransactionRun(folder))) {
      return;
    }
    const before = this.results.answered;
    await this.openQuietly(folder);
    const kept = await this.results.keepAnswer(before);
    if (kept !== undefined) {
      const name = path.basename(folder);
      messages.showStatus(`The run ${name} ended without an answer. ${kept} stays open.`);
      return;
    }
    messages.showStatus(`Fulcrum opened the run ${path.basename(folder)}.`);
  }
}

function opensLatest(): boolean {
  return vscode.workspace.getConfiguration("fulcrum").get<boolean>("openLatestRun", true);
}
