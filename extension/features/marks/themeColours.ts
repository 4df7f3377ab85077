/** Our colours for pictures that the extension draws itself: those of the user's settings, else the defaults. */
import * as vscode from "vscode";
import { type Colours, customColours, type ThemeKind } from "../../core/themeColours";

/** The kind of the theme that the editor has now. */
export function themeKind(): ThemeKind {
  switch (vscode.window.activeColorTheme.kind) {
    case vscode.ColorThemeKind.HighContrast:
      return "highContrast";
    case vscode.ColorThemeKind.HighContrastLight:
      return "highContrastLight";
    case vscode.ColorThemeKind.Light:
      return "light";
    default:
      return "dark";
  }
}

export function coloursOf(kind: ThemeKind): Colours {
  const workbench = vscode.workspace.getConfiguration("workbench");
  return customColours(kind, workbench.get("colorCustomizations"), workbench.get<string>("colorTheme", ""));
}
