/** The theme that the editor has now, as a page knows it. */
import type { ReadColour, ThemeKind } from "../core/themeColours";

/** The editor says by a class which kind of theme it has. */
export function themeKind(): ThemeKind {
  const { classList } = document.body;
  if (classList.contains("vscode-high-contrast-light")) {
    return "highContrastLight";
  }
  if (classList.contains("vscode-high-contrast")) {
    return "highContrast";
  }
  return classList.contains("vscode-light") ? "light" : "dark";
}

/** For one picture. The next one may have another theme. */
export function themeReader(): ReadColour {
  const style = getComputedStyle(document.body);
  return (id) => style.getPropertyValue(`--vscode-${id.replaceAll(".", "-")}`).trim();
}
