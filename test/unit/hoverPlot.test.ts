/** The plot in a hover takes the theme's colours. */
import { expect, test } from "vitest";
import { plotInColours } from "../../extension/core/causal/hoverPlot";
import { customColours } from "../../extension/core/themeColours";
import { defaultColours, themeKinds } from "./makeThemes";

const svg = `<svg fill="#888888"><text>−12 %, not "#88888"</text><path stroke="#4a90d9"/><g fill="#4a90d9"/></svg>`;
const inMarkdown = (picture: string) =>
  `**−12 %** #888888\n\n![Plot](data:image/svg+xml;base64,${Buffer.from(picture).toString("base64")}|width=340,height=190)\n\n| a |`;

test.each(themeKinds)("its two colours come from the theme: %s", (kind) => {
  const colours = defaultColours(kind);
  const expected = svg
    .replaceAll('"#888888"', `"${colours("fulcrum.plotAxis")}"`)
    .replaceAll('"#4a90d9"', `"${colours("fulcrum.plotCurve")}"`);
  expect(plotInColours(inMarkdown(svg), colours)).toBe(inMarkdown(expected));
});

test("each kind of theme has its own picture, and settings change it", () => {
  const pictures = themeKinds.map((kind) => plotInColours(inMarkdown(svg), defaultColours(kind)));
  expect(new Set(pictures).size).toBe(themeKinds.length);
  const settings = { "fulcrum.plotCurve": "#123456" };
  const own = plotInColours(inMarkdown(svg), customColours("dark", settings, "Any"));
  const dark = defaultColours("dark")("fulcrum.plotAxis");
  expect(own).toBe(inMarkdown(svg.replaceAll("#888888", dark).replaceAll("#4a90d9", "#123456")));
});

test("a hover without a plot is left unchanged", () => {
  const colours = defaultColours("light");
  for (const text of ["", "`#888888`", "![](data:image/png;base64,AAAA)"]) {
    expect(plotInColours(text, colours)).toBe(text);
  }
});
