/** The themes in which every page is tested. */

/**
 * By name: the theme's id, its name in the list of themes, and the classes of workbench and webviews that show that it is
 * active.
 */
export const themes = {
  light: ["Default Light Modern", "Light Modern", "vs", "vscode-light"],
  "high-contrast": ["Default High Contrast", "Dark High Contrast", "hc-black", "vscode-high-contrast"],
  "high-contrast-light": [
    "Default High Contrast Light",
    "Light High Contrast",
    "hc-light",
    "vscode-high-contrast-light",
  ],
  // The last one stays active.
  dark: ["Default Dark Modern", "Dark Modern", "vs-dark", "vscode-dark"],
};
