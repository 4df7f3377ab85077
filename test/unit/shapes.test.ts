import { describe, expect, test } from "vitest";
import { shapeDataUri, shapeSvg, toneOf } from "../../extension/core/causal/shapes";
import { shapes } from "./makeShapes";
import { defaultColours, themeKinds } from "./makeThemes";

const dark = defaultColours("dark");

/** The sparkline's vertical distance from its left to its right end; up is positive. */
function rise(svg: string): number {
  const line = /<path d="M[\d.]+ ([\d.-]+) L[\d.]+ ([\d.-]+)" fill="none"/.exec(svg);
  return line === null ? Number.NaN : Number(line[1]) - Number(line[2]);
}

test("there are nine shapes: four gains, flat, three harms, one hollow", () => {
  expect(shapes.map(toneOf)).toEqual([
    ...["gain", "gain", "gain", "gain"],
    "flat",
    ...["harm", "harm", "harm"],
    "unknown",
  ]);
});

test("direction alone distinguishes the eight known shapes, in order", () => {
  const rises = shapes.filter((shape) => shape !== "unknown").map((shape) => rise(shapeSvg(shape, dark, false)));
  expect([...rises].sort((a, b) => b - a)).toEqual(rises);
  expect(new Set(rises).size).toBe(8);
  expect(rises[4]).toBe(0);
});

test("the hollow shape is a ring without a line", () => {
  const svg = shapeSvg("unknown", dark, false);
  expect(svg).toContain('fill="none"');
  expect(svg).not.toContain("<path");
});

describe.each(themeKinds)("%s", (kind) => {
  const theme = defaultColours(kind);

  test.each(shapes)("%s fits the gutter cell and keeps its direction when stale", (shape) => {
    const fresh = shapeSvg(shape, theme, false);
    const stale = shapeSvg(shape, theme, true);
    expect(fresh).toMatch(/^<svg [^>]*width="19" height="19"/);
    expect(stale).not.toBe(fresh);
    expect(stale).toContain("stroke-dasharray");
    if (shape !== "unknown") {
      expect(rise(stale)).toBe(rise(fresh));
    }
  });
});

test("the data URI decodes to the drawing", () => {
  const uri = shapeDataUri("gain3", dark, false);
  const [head, body] = uri.split(",") as [string, string];
  expect(head).toBe("data:image/svg+xml;base64");
  expect(Buffer.from(body, "base64").toString("utf8")).toBe(shapeSvg("gain3", dark, false));
});
