/** The runs of the workspace: as the engine lists them, when they change, and deleting them. */
import { readdir, stat } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { Debounced } from "../../core/debounce";
import { type RunEntry, type RunKind, requests } from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import { kindOfFiles } from "../../core/runs/runsOnDisk";
import type { Engine } from "../editor/engine";

export class RunStore extends Owner {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  /** A run began, changed its state, or is gone. Many changes at once are reported as one. */
  readonly onDidChange = this.changed.event;
  private readonly soon = this.own(new Debounced(() => this.changed.fire(), 200));

  constructor(private readonly engine: Engine) {
    super();
    const watch = vscode.workspace.createFileSystemWatcher;
    // When a folder is deleted, only its own end is reported, not that of its files.
    const watchers = [
      watch("**/.fulcrum/runs/*/run.json"),
      watch("**/.fulcrum/runs/*", false, true, false),
      watch("**/.fulcrum/runs", true, true, false),
      watch("**/.fulcrum", true, true, false),
    ];
    const tell = () => this.soon.trigger();
    this.ownAll(
      ...watchers,
      ...watchers.flatMap((it) => [it.onDidCreate(tell), it.onDidChange(tell), it.onDidDelete(tell)]),
      vscode.workspace.onDidChangeWorkspaceFolders(tell),
    );
  }

  /** Of all folders of the workspace, each with its newest first. */
  async list(): Promise<RunEntry[]> {
    const lists = await Promise.all(
      this.folders.map((workspace) => this.engine.request(requests.RunsList, { workspace })),
    );
    return lists.flatMap(({ runs }) => runs);
  }

  /** Looked at without the engine, so that a workspace without runs never starts it. */
  async hasRuns(): Promise<boolean> {
    const found = await Promise.all(this.folders.map((folder) => exists(path.join(folder, ".fulcrum", "runs"))));
    return found.includes(true);
  }

  /** Run folders by what they hold. The engine is not asked, so that a menu never starts it. */
  async foldersByKind(): Promise<Record<RunKind, string[]>> {
    const runs = await Promise.all(this.folders.map((folder) => subfolders(path.join(folder, ".fulcrum", "runs"))));
    const kinds = await Promise.all(runs.flat().map(async (run) => ({ run, kind: kindOfFiles(await readdir(run)) })));
    const of = (wanted: RunKind) => kinds.filter(({ kind }) => kind === wanted).map(({ run }) => run);
    return { causal: of("causal"), events: of("events"), transactions: of("transactions"), unknown: of("unknown") };
  }

  /** Deletes runs, all or none of those in one store. */
  async remove(runs: readonly RunEntry[]): Promise<void> {
    const stores = new Map<string, string[]>();
    for (const run of runs) {
      const workspace = path.dirname(path.dirname(path.dirname(run.path)));
      stores.set(workspace, [...(stores.get(workspace) ?? []), run.path]);
    }
    try {
      for (const [workspace, paths] of stores) {
        await this.engine.request(requests.RunsRemove, { workspace, runs: paths });
      }
    } finally {
      this.changed.fire();
    }
  }

  private get folders(): string[] {
    const folders = vscode.workspace.workspaceFolders ?? [];
    return folders.filter((folder) => folder.uri.scheme === "file").map((folder) => folder.uri.fsPath);
  }
}

/** None when there is no such folder. */
async function subfolders(folder: string): Promise<string[]> {
  if (!(await exists(folder))) {
    return [];
  }
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => path.join(folder, entry.name));
}

export async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch {
    return false;
  }
}
