/** *Find Bottlenecks*: the automatic search lists call sequences with reasons. Those that the user keeps become labels. */
import * as vscode from "vscode";
import type { NavigatorSuggestion } from "../../core/engine/protocol";
import { nothingFound, suggestionItems, summaryOf } from "../../core/navigator/bottlenecks";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import type { Navigation } from "./navigation";
import { ask } from "./navigatorFocus";
import { searchBottlenecks } from "./navigatorRequests";

interface SuggestionItem extends vscode.QuickPickItem {
  suggestion: NavigatorSuggestion;
}

export function registerBottlenecks(engine: Engine, navigation: Navigation): vscode.Disposable {
  return vscode.commands.registerCommand("fulcrum.navigator.findBottlenecks", () => find(engine, navigation));
}

async function find(engine: Engine, navigation: Navigation): Promise<void> {
  const searched = navigation.open;
  if (searched === undefined) {
    await vscode.commands.executeCommand("fulcrum.profile.open");
    return;
  }
  const { id } = searched.opened;
  const found = await searchBottlenecks(engine, searched);
  const open = navigation.open;
  // What was found in one profile says nothing about another that was opened meanwhile.
  if (found === undefined || open?.opened.id !== id) {
    return;
  }
  if (found.suggestions.length === 0) {
    await messages.info(nothingFound(found));
    return;
  }
  const chosen = await ask(() => choose(navigation, suggestionItems(found, open.view.unit), summaryOf(found)));
  if (chosen !== undefined && chosen.length > 0 && navigation.open?.opened.id === id) {
    await navigation.do({
      kind: "accept",
      suggestions: chosen.map(({ suggestion: { label, path } }) => ({ label, path })),
    });
  }
}

/** All are marked at first: Enter accepts them. A button beside each goes to its path. */
function choose(
  navigation: Navigation,
  items: SuggestionItem[],
  summary: string,
): Promise<readonly SuggestionItem[] | undefined> {
  const pick = vscode.window.createQuickPick<SuggestionItem>();
  const goTo: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("go-to-file"), tooltip: "Go to this path" };
  pick.title = summary;
  pick.placeholder = "Enter labels the selected paths";
  pick.canSelectMany = true;
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.items = items.map((item) => ({ ...item, buttons: [goTo] }));
  pick.selectedItems = pick.items;
  return new Promise((resolve) => {
    pick.onDidTriggerItemButton(({ item }) => {
      resolve([]);
      pick.hide();
      void navigation.do({ kind: "selectPath", path: item.suggestion.path });
    });
    pick.onDidAccept(() => {
      resolve(pick.selectedItems);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}
