/** Opening profiles in the Navigator, alone or compared: from the explorer, a dialog, the palette. */
import { stat } from "node:fs/promises";
import * as vscode from "vscode";
import { type ProfileSource, titleOf } from "../../core/navigator/navigationState";
import { Owner } from "../../core/owner";
import { isCausal, profileEndings } from "../../core/profiles/profileFiles";
import { baseName } from "../../core/text/format";
import * as messages from "../editor/messages";
import type { Navigation } from "./navigation";
import { ask } from "./navigatorFocus";

type ProfileArgument = vscode.Uri | string | ProfileSource;

export class Profiles extends Owner {
  /** What other profiles are compared with. */
  private base: string[] | undefined;
  /** Says what to do next, until it is done. */
  private hint: vscode.Disposable | undefined;

  constructor(private readonly navigation: Navigation) {
    super();
    const register = vscode.commands.registerCommand;
    this.ownAll(
      register("fulcrum.profile.open", (target?: ProfileArgument, all?: vscode.Uri[]) => this.open(target, all)),
      register("fulcrum.profile.openAgain", () => this.openAgain()),
      register("fulcrum.profile.select", (target?: vscode.Uri, all?: vscode.Uri[]) => this.select(target, all)),
      register("fulcrum.profile.withSelected", (target?: vscode.Uri, all?: vscode.Uri[]) =>
        this.withSelected(target, all),
      ),
      register("fulcrum.profile.compare", (target?: vscode.Uri, all?: vscode.Uri[]) => this.compare(target, all)),
    );
  }

  override dispose(): void {
    this.hint?.dispose();
    super.dispose();
  }

  private async open(target: ProfileArgument | undefined, all: vscode.Uri[] | undefined): Promise<void> {
    if (typeof target === "object" && "files" in target) {
      await this.show(target);
      return;
    }
    const files = filesOf(target, all) ?? (await ask(() => choose("Open Profile")));
    const [first] = files ?? [];
    if (files === undefined || first === undefined) {
      return;
    }
    if (files.length === 1 && isCausal(first)) {
      // Lines that were sped up in experiments: no call tree in there.
      await vscode.commands.executeCommand("fulcrum.causal.open", first);
      return;
    }
    await this.show({ files: [first], against: [] });
    if (files.length > 1) {
      await messages.info(
        `${baseName(first)} is open. To compare profiles, select those before the change by Select Profile for Compare, then choose Compare with Selected Profile on the others.`,
      );
    }
  }

  private async openAgain(): Promise<void> {
    const source = this.navigation.remembered;
    await (source === undefined ? this.open(undefined, undefined) : this.show(source));
  }

  private async select(target: vscode.Uri | undefined, all: vscode.Uri[] | undefined): Promise<void> {
    const files = filesOf(target, all) ?? (await ask(() => choose("Select Profile for Compare")));
    if (files === undefined || files.length === 0) {
      return;
    }
    this.base = files;
    void vscode.commands.executeCommand("setContext", "fulcrum.profileSelected", true);
    this.hint = messages.keepStatus(
      `${titleOf({ files, against: [] })} is B, the base. Now choose Compare with Selected Profile on the profile to examine.`,
    );
  }

  private async withSelected(target: vscode.Uri | undefined, all: vscode.Uri[] | undefined): Promise<void> {
    if (this.base === undefined) {
      await this.compare(undefined, undefined);
      return;
    }
    const files = filesOf(target, all) ?? (await ask(() => choose("Compare with Selected Profile")));
    if (files !== undefined && files.length > 0) {
      await this.show({ files, against: this.base });
    }
  }

  /** Two files of the explorer at once, the older one as the base; else it asks for both sides. */
  private async compare(target: vscode.Uri | undefined, all: vscode.Uri[] | undefined): Promise<void> {
    const marked = filesOf(target, all);
    if (marked?.length === 2) {
      const [before, after] = await byAge(marked);
      await this.show({ files: [after ?? ""], against: [before ?? ""] });
      return;
    }
    const source = await ask(chooseSides);
    if (source !== undefined) {
      await this.show(source);
    }
  }

  private async show(source: ProfileSource): Promise<void> {
    if (source.against.length > 0) {
      this.hint?.dispose();
    }
    await vscode.commands.executeCommand("fulcrum.navigator.focus");
    if (await this.navigation.openSource(source)) {
      messages.showStatus(`${titleOf(source)} is open in the Navigator.`);
    }
  }
}

/** The explorer's arguments: the file clicked on, and all selected files. */
function filesOf(target: vscode.Uri | string | undefined, all: vscode.Uri[] | undefined): string[] | undefined {
  if (target === undefined) {
    return undefined;
  }
  return all !== undefined && all.length > 1
    ? all.map((uri) => uri.fsPath)
    : [typeof target === "string" ? target : target.fsPath];
}

async function chooseSides(): Promise<ProfileSource | undefined> {
  const against = await choose("Compare Profiles: B, the Base (one file, or all runs of it)");
  if (against === undefined) {
    return undefined;
  }
  const files = await choose("Compare Profiles: A, the Profile to Examine (one file, or all runs of it)");
  return files === undefined ? undefined : { files, against };
}

async function choose(title: string): Promise<string[] | undefined> {
  const start = vscode.workspace.workspaceFolders?.[0]?.uri;
  const endings = new Set([...profileEndings.map((ending) => ending.replace(/^.*\./, "")), "json", "txt", "out", "gz"]);
  const uris = await vscode.window.showOpenDialog({
    title,
    openLabel: "Open",
    canSelectMany: true,
    ...(start === undefined ? {} : { defaultUri: start }),
    filters: { "All files": ["*"], Profiles: [...endings] },
  });
  return uris?.map((uri) => uri.fsPath);
}

async function byAge(files: readonly string[]): Promise<string[]> {
  const times = await Promise.all(files.map(async (file) => ({ file, time: (await stat(file)).mtimeMs })));
  return times.sort((a, b) => a.time - b.time).map(({ file }) => file);
}
