/** From a profile's name to its source: where the profile says, else where the workspace defines it. */
import * as vscode from "vscode";
import { type NavigatorLocation, requests } from "../../core/engine/protocol";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { showLine } from "../editor/places";
import type { Navigation } from "./navigation";
import { ask } from "./navigatorFocus";

interface PlaceItem extends vscode.QuickPickItem {
  location: NavigatorLocation;
}

interface Found {
  locations: readonly NavigatorLocation[];
  note: string | null;
}

const how: Readonly<Record<NavigatorLocation["how"], string>> = {
  recorded: "where the profile says",
  recordedFile: "definition in the profile's file",
  definition: "definition with this name",
};

/** Opens the source of a frame. With several candidates it asks; with none it says why. */
export async function openFrame(engine: Engine, navigation: Navigation, name: string): Promise<void> {
  const open = navigation.open;
  if (open === undefined) {
    return;
  }
  try {
    await openLocation(name, await engine.request(requests.NavigatorGetFrame, { id: open.opened.id, name }));
  } catch (error) {
    await messages.showTrouble(engine.log, `Looking for ${name}`, error);
  }
}

/** Opens the place of a name. */
export async function openLocation(name: string, { locations, note }: Found): Promise<void> {
  const location = locations.length === 1 ? locations[0] : await choose(name, locations);
  if (location !== undefined) {
    await showLine(vscode.Uri.parse(location.uri, true), location.line);
  } else if (locations.length === 0) {
    await messages.info(note ?? `The workspace has no definition of ${name}.`);
  }
}

async function choose(name: string, locations: readonly NavigatorLocation[]): Promise<NavigatorLocation | undefined> {
  // A place that the profile itself recorded needs no question.
  const [first] = locations;
  if (first?.how === "recorded" || first === undefined) {
    return first;
  }
  const items: PlaceItem[] = locations.map((location) => ({
    label: vscode.workspace.asRelativePath(vscode.Uri.parse(location.uri, true)),
    description: `line ${location.line + 1} · ${how[location.how]}`,
    location,
  }));
  const choice = await ask(
    () => vscode.window.showQuickPick(items, { title: name, placeHolder: "Which one is it?" }),
    () => true,
  );
  return choice?.location;
}
