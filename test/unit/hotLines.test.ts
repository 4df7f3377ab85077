import { expect, test } from "vitest";
import { shapeSvg } from "../../extension/core/causal/shapes";
import {
  gutterSentence,
  heatDataUri,
  heatSvg,
  hotShape,
  hotTexts,
  hottestOfEachLine,
} from "../../extension/core/profiles/hotLines";
import { line } from "./makeNavigator";
import { hotShapes, shapes } from "./makeShapes";
import { defaultColours } from "./makeThemes";

const dark = defaultColours("dark");

/** How many bars are filled, whether they stand on the bottom, and whether there is a "no difference" line. */
function bars(svg: string): { filled: number; standing: boolean; difference: boolean } {
  const all = [...svg.matchAll(/<rect x="[\d.]+" y="([\d.]+)" width="2.75" height="([\d.]+)"( fill="#\w+"\/>)?/g)];
  const bottoms = new Set(all.map(([, y, height]) => Number(y) + Number(height)));
  return {
    filled: all.filter(([, , , solid]) => solid !== undefined).length,
    standing: bottoms.size === 1,
    difference: /width="16" height="1"/.test(svg),
  };
}

test("the number of bars means how hot, their direction more or less, a line that it is a difference", () => {
  expect(hotShapes.map((shape) => bars(heatSvg(shape, dark, false)))).toEqual([
    ...[1, 2, 3, 4].map((filled) => ({ filled, standing: true, difference: false })),
    ...[1, 2, 3, 4].map((filled) => ({ filled, standing: true, difference: true })),
    ...[1, 2, 3].map((filled) => ({ filled, standing: false, difference: true })),
  ]);
  expect([hotShape("hot3", false), hotShape("hot3", true), hotShape("less2", true)]).toEqual([
    "hot3",
    "more3",
    "less2",
  ]);
});

test("no hot line looks like a causal result: bars have no line or ring, causal shapes no bars", () => {
  for (const shape of hotShapes) {
    expect(heatSvg(shape, dark, false)).not.toMatch(/<path|<circle/);
  }
  for (const shape of shapes) {
    expect(shapeSvg(shape, dark, false)).not.toContain("<rect");
  }
});

test("stale bars are outlines", () => {
  expect(heatSvg("hot4", dark, true)).toContain("stroke-dasharray");
  expect(heatDataUri("hot1", dark, false)).toMatch(/^data:image\/svg\+xml;base64,/);
});

test("a line has one mark, that of its most costly function; cold functions have none", () => {
  const shown = hottestOfEachLine([
    line({ name: "small", base: 20, cum: 20, heat: "hot2" }),
    line({ name: "great", base: 200, cum: 200, heat: "hot4" }),
    line({ line: 9, name: "below", base: 1, cum: 400, heat: "hot2" }),
    line({ line: 12, name: "cold", base: 1, cum: 2, heat: "cold" }),
  ]);
  expect(shown.map((it) => [it.line, it.name])).toEqual([
    [4, "great"],
    [9, "below"],
  ]);
});

test("the current line and the ten hottest have text, which says when a line has changed", () => {
  const lines = Array.from({ length: 12 }, (_, n) =>
    line({ line: n, text: `text ${n}`, base: 20 - n, cum: 0, state: n === 0 ? "stale" : "exact" }),
  );
  const shown = (cursors: number[], mode: "off" | "current" | "currentAndBest") =>
    hotTexts(lines, cursors, mode).map((it) => it.line);
  expect(shown([3], "off")).toEqual([]);
  expect(shown([3], "current")).toEqual([3]);
  expect(shown([11], "currentAndBest")).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(hotTexts(lines, [0], "current")).toEqual([{ line: 0, text: "text 0 (changed since)", tone: "hot" }]);
  expect(hotTexts([line({ heat: "less2" })], [], "currentAndBest").map((it) => it.tone)).toEqual(["less"]);
});

test("the status bar names the results that the gutter shows", () => {
  expect(gutterSentence("causal", "run")).toMatch(/causal results of run/);
  expect(gutterSentence("profile", "cpu.pb.gz")).toMatch(/where cpu\.pb\.gz spends/);
  expect(gutterSentence("profile", "after − before", true)).toMatch(
    /the difference after − before: bars stand where A costs more/,
  );
});
