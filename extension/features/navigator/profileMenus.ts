/** Tells menus which files with ambiguous names are profiles, by how the files begin. */
import { type FileHandle, open } from "node:fs/promises";
import * as vscode from "vscode";
import { Debounced } from "../../core/debounce";
import { profilesKey } from "../../core/menus";
import { Owner } from "../../core/owner";
import { beginsLikeProfile, headLength } from "../../core/profiles/profileContent";
import { ambiguousEndings, looksLikeProfile } from "../../core/profiles/profileFiles";

const files = `**/*.{${ambiguousEndings.join(",")}}`;
/** Files made by a build or a package manager are no profiles of the user's program. */
const left = "**/{node_modules,target,.git,.fulcrum,.vscode,vendor,third_party}/**";
/** In a larger workspace, files are checked when they are opened. */
const most = 1000;

export class ProfileMenus extends Owner {
  private readonly profiles = new Set<string>();
  /** To be checked when things are quiet. */
  private readonly waiting = new Set<string>();
  private told = "";
  private readonly soon = this.own(new Debounced(() => void this.lookAtWaiting(), 200));

  constructor(private readonly log: vscode.LogOutputChannel) {
    super();
    const watcher = vscode.workspace.createFileSystemWatcher(files);
    this.ownAll(
      watcher,
      watcher.onDidCreate((uri) => this.want(uri)),
      watcher.onDidChange((uri) => this.want(uri)),
      watcher.onDidDelete((uri) => this.want(uri)),
      vscode.window.tabGroups.onDidChangeTabs(({ opened }) => this.wantTabs(opened)),
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.find()),
    );
    this.wantTabs(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs));
    void this.find();
  }

  private async find(): Promise<void> {
    for (const uri of await vscode.workspace.findFiles(files, left, most)) {
      this.want(uri);
    }
  }

  private wantTabs(tabs: readonly vscode.Tab[]): void {
    for (const { input } of tabs) {
      if (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom) {
        this.want(input.uri);
      }
    }
  }

  private want({ scheme, fsPath }: vscode.Uri): void {
    const ambiguous = ambiguousEndings.some((ending) => fsPath.endsWith(`.${ending}`)) && !looksLikeProfile(fsPath);
    if (scheme === "file" && ambiguous) {
      this.waiting.add(fsPath);
      this.soon.trigger();
    }
  }

  private async lookAtWaiting(): Promise<void> {
    const wanted = [...this.waiting];
    this.waiting.clear();
    for (const file of wanted) {
      if (await this.isProfile(file)) {
        this.profiles.add(file);
      } else {
        this.profiles.delete(file);
      }
    }
    const now = JSON.stringify([...this.profiles].sort());
    if (now !== this.told) {
      this.told = now;
      await vscode.commands.executeCommand("setContext", profilesKey, [...this.profiles]);
    }
  }

  private async isProfile(file: string): Promise<boolean> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(file);
      if (!(await handle.stat()).isFile()) {
        return false;
      }
      const { bytesRead, buffer } = await handle.read(new Uint8Array(headLength), 0, headLength, 0);
      return beginsLikeProfile(buffer.subarray(0, bytesRead));
    } catch (error) {
      this.log.debug(`${file} was not looked at: ${error}`);
      return false;
    } finally {
      await handle?.close();
    }
  }
}
