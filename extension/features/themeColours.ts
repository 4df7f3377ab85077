/** Our colours for pictures that the extension draws itself: what somebody wants in the settings, else the defaults. */
import * as vscode from "vscode";
import { type Colours, customColours, type ThemeKind } from "../core/themeColours";

export function coloursOf(kind: ThemeKind): Colours {
  const workbench = vscode.workspace.getConfiguration("workbench");
  return customColours(kind, workbench.get("colorCustomizations"), workbench.get<string>("colorTheme", ""));
}
