/** Themes for tests: our default colours, and the editor's colours in its default themes. */
import {
  type Colours,
  luminance,
  type ReadColour,
  type ThemeKind,
  themeColours,
} from "../../extension/core/themeColours";

export const themeKinds = [
  "dark",
  "light",
  "highContrast",
  "highContrastLight",
] as const satisfies readonly ThemeKind[];

const editor: Readonly<Record<string, Readonly<Record<ThemeKind, string>>>> = {
  "editor.background": { dark: "#1f1f1f", light: "#ffffff", highContrast: "#000000", highContrastLight: "#ffffff" },
  foreground: { dark: "#cccccc", light: "#3b3b3b", highContrast: "#ffffff", highContrastLight: "#292929" },
  descriptionForeground: { dark: "#9d9d9d", light: "#3b3b3b", highContrast: "#ffffff", highContrastLight: "#292929" },
  contrastBorder: { dark: "", light: "", highContrast: "#6fc3df", highContrastLight: "#0f4a85" },
};

/** Our colours in a theme that does not set them. */
export function defaultColours(kind: ThemeKind): Colours {
  return (id) => themeColours[id][kind];
}

export function readTheme(kind: ThemeKind): ReadColour {
  const own = defaultColours(kind);
  return (id) => (id in themeColours ? own(id as keyof typeof themeColours) : (editor[id]?.[kind] ?? ""));
}

/** The contrast of two colours by WCAG, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}
