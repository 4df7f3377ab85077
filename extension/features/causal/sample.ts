/** The sample of the walkthrough: copied to where the user's data is, and opened in whatever window there is. */
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { relocated, sampleRun, sampleRuns, sampleSource } from "../../core/causal/sample";
import { Owner } from "../../core/owner";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";

export class Sample extends Owner {
  constructor(
    private readonly engine: Engine,
    private readonly extensionUri: vscode.Uri,
    private readonly storage: vscode.Uri,
  ) {
    super();
    const register = vscode.commands.registerCommand;
    this.ownAll(
      register("fulcrum.sample.open", () => this.with("Opening the sample", (folder) => this.open(folder))),
      register("fulcrum.sample.compare", () => this.with("Comparing the sample's runs", (folder) => compare(folder))),
    );
  }

  private async with(doing: string, work: (folder: string) => Promise<void>): Promise<void> {
    try {
      await work(await this.copy());
    } catch (error) {
      await messages.showTrouble(this.engine.log, doing, error);
    }
  }

  /** The source first: results are shown beside it. Then the Ranking, which says what to do with them. */
  private async open(folder: string): Promise<void> {
    await vscode.window.showTextDocument(vscode.Uri.file(path.join(folder, sampleSource)), { preview: false });
    await vscode.commands.executeCommand("fulcrum.causal.open", sampleRun(folder, "before"), { preserveFocus: true });
    await vscode.commands.executeCommand("fulcrum.ranking.goto");
  }

  /** Copies the sample as it was when its first run was recorded, whatever the user changed in an earlier copy. */
  private async copy(): Promise<string> {
    const from = vscode.Uri.joinPath(this.extensionUri, "media", "sample").fsPath;
    const folder = vscode.Uri.joinPath(this.storage, "sample").fsPath;
    const runs = Object.keys(sampleRuns) as (keyof typeof sampleRuns)[];
    for (const which of runs) {
      await copyRun(path.join(from, which), sampleRun(folder, which), folder);
    }
    await cp(path.join(from, "before", "sources", `0-${sampleSource}`), path.join(folder, sampleSource));
    return folder;
  }
}

async function compare(folder: string): Promise<void> {
  const pair = { before: sampleRun(folder, "before"), after: sampleRun(folder, "after") };
  await vscode.commands.executeCommand("fulcrum.compare.runs", pair);
}

async function copyRun(from: string, to: string, folder: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await cp(path.join(from, "sources"), path.join(to, "sources"), { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.isFile()) {
      const text = await readFile(path.join(from, entry.name), "utf8");
      await writeFile(path.join(to, entry.name), relocated(text, folder));
    }
  }
}
