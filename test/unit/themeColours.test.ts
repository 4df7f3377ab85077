/** Our colours, with the user's settings applied. */
import { expect, test } from "vitest";
import { customColours, luminance, readableOn, themeColours } from "../../extension/core/themeColours";
import { contrast, readTheme, themeKinds } from "./makeThemes";

/** `editorHoverWidget.background` of the editor's default themes. */
const hoverBackground = { dark: "#202020", light: "#f8f8f8", highContrast: "#0c141f", highContrastLight: "#ffffff" };

test("a colour comes from the theme's settings, the general settings, or the default, in this order", () => {
  const settings = {
    "fulcrum.gutterGain": "#112233",
    "fulcrum.gutterHarm": "#445566",
    "editor.background": "#000000",
    "[Solarized Dark]": { "fulcrum.gutterHarm": "#778899", "fulcrum.gutterFlat": "red" },
    "[Quiet *][Other]": { "fulcrum.gutterHarm": "#abc" },
  };
  const of = (theme: string) => customColours("dark", settings, theme);
  expect(of("Solarized Dark")("fulcrum.gutterGain")).toBe("#112233");
  expect(of("Solarized Dark")("fulcrum.gutterHarm")).toBe("#778899");
  expect(of("Quiet Light")("fulcrum.gutterHarm")).toBe("#abc");
  expect(of("Another")("fulcrum.gutterHarm")).toBe("#445566");
  // The editor does not accept colour names either.
  expect(of("Solarized Dark")("fulcrum.gutterFlat")).toBe(themeColours["fulcrum.gutterFlat"].dark);
  expect(customColours("light", undefined, "")("fulcrum.gutterHot")).toBe(themeColours["fulcrum.gutterHot"].light);
});

test.each(["#fff", "#ffffff", "rgb(255, 255, 255)", "rgba(255, 255, 255, 0.5)"])("%s is white", (colour) => {
  expect(luminance(colour)).toBeCloseTo(1);
  expect(readableOn(colour)).toBe("#101418");
});

test.each(themeKinds)("a hover's plot is legible: %s", (kind) => {
  const read = readTheme(kind);
  // Labels are text, the curve is a thick line.
  expect(contrast(read("fulcrum.plotAxis"), hoverBackground[kind])).toBeGreaterThan(4.5);
  expect(contrast(read("fulcrum.plotCurve"), hoverBackground[kind])).toBeGreaterThan(3);
});

test.each(themeKinds)("text beside the code is legible: %s", (kind) => {
  const read = readTheme(kind);
  const texts = ["gain", "harm", "flat", "hot", "cheaper"].map((tone) => `fulcrum.${tone}Foreground` as const);
  for (const id of texts as (keyof typeof themeColours)[]) {
    expect(contrast(read(id), read("editor.background")), id).toBeGreaterThan(4.5);
  }
});
