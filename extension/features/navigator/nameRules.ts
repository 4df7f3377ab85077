/** Chooses the rules that unify a profile's names, and shows what they change. */
import * as vscode from "vscode";
import { type NavigatorNames, requests } from "../../core/engine/protocol";
import { namesMarkdown, ruleItems, rulesText, settingOf } from "../../core/navigator/names";
import { Owner } from "../../core/owner";
import type { Engine } from "../editor/engine";
import { settingsFor } from "../editor/folders";
import * as messages from "../editor/messages";
import type { Navigation } from "./navigation";
import { ask } from "./navigatorFocus";

const setting = "profile.names";
/** Names that are shown before and after. */
const mostNames = 5000;

export class NameRules extends Owner {
  constructor(
    private readonly engine: Engine,
    private readonly navigation: Navigation,
  ) {
    super();
    this.own(vscode.commands.registerCommand("fulcrum.navigator.names", () => this.choose()));
  }

  private async choose(): Promise<void> {
    const open = this.navigation.open;
    const [file] = open?.source.files ?? [];
    if (open === undefined || file === undefined) {
      return;
    }
    try {
      const params = { id: open.opened.id, count: mostNames };
      const names = await this.engine.request(requests.NavigatorGetNames, params);
      const picked = await ask(
        () => pick(names),
        (answer) => answer === "show",
      );
      if (picked === "show") {
        const content = namesMarkdown(open.opened.title, names);
        const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
        await vscode.window.showTextDocument(document);
      } else if (picked !== undefined) {
        await write(file, settingOf(names.rules, picked));
      }
    } catch (error) {
      await messages.showTrouble(this.engine.log, "Choosing rules for names", error);
    }
  }
}

/** The rules for the names of a file's functions, as the engine takes them. */
export function rulesFor(file: string): string {
  return rulesText(settingsFor(file).get<string[]>(setting, ["default"]));
}

/**
 * The setting is the folder's where it has its own, else the workspace's when there is one. The Navigator opens its profile
 * again when it changes.
 */
async function write(file: string, rules: string[] | undefined): Promise<void> {
  const settings = settingsFor(file);
  const now = settings.inspect<string[]>(setting);
  const [target, wider] =
    now?.workspaceFolderValue !== undefined
      ? [vscode.ConfigurationTarget.WorkspaceFolder, now.workspaceValue ?? now.globalValue]
      : vscode.workspace.workspaceFolders === undefined
        ? [vscode.ConfigurationTarget.Global, undefined]
        : [vscode.ConfigurationTarget.Workspace, now?.globalValue];
  // Default rules must be written out where a wider scope has others.
  await settings.update(setting, rules ?? (wider === undefined ? undefined : ["default"]), target);
}

/** The names of the rules that are picked, or that the names are to be shown instead. */
function pick(names: NavigatorNames): Promise<string[] | "show" | undefined> {
  const list = vscode.window.createQuickPick();
  const show = { iconPath: new vscode.ThemeIcon("list-flat"), tooltip: "Show Names Before and After" };
  list.title = "Rules for Names";
  list.placeholder = "Names that these rules make equal are one function";
  list.canSelectMany = true;
  list.matchOnDescription = true;
  list.buttons = [show];
  list.items = ruleItems(names.rules);
  list.selectedItems = list.items.filter(({ picked }) => picked);
  return new Promise((resolve) => {
    list.onDidTriggerButton(() => {
      resolve("show");
      list.hide();
    });
    list.onDidAccept(() => {
      resolve(list.selectedItems.map(({ label }) => label));
      list.hide();
    });
    list.onDidHide(() => {
      resolve(undefined);
      list.dispose();
    });
    list.show();
  });
}
