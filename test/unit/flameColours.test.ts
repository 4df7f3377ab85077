import { describe, expect, test } from "vitest";
import { differenceStep, flameTheme, labelPaint, type Paint, paintOf } from "../../extension/core/flame/colours";
import { hash } from "../../extension/core/hash";
import { contrast, readTheme, themeKinds } from "./makeThemes";

function channels(colour: string): [red: number, green: number, blue: number] {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** The colour as a deuteranope sees it (Viénot, Brettel and Mollon 1999, linear part only). */
function deuteranope(colour: string): [number, number, number] {
  const [red, green, blue] = channels(colour);
  const mixed = 0.29275 * red + 0.70725 * green;
  return [mixed, mixed, -0.02234 * red + 0.02234 * green + blue];
}

describe.each(themeKinds)("%s", (name) => {
  const theme = flameTheme(name, readTheme(name));

  test("every text is legible on its box", () => {
    const all: Paint[] = [...theme.plain, theme.muted, theme.match, ...theme.labels, ...theme.differences];
    for (const paint of all) {
      expect(contrast(paint.fill, paint.text), `${paint.text} on ${paint.fill}`).toBeGreaterThanOrEqual(4.5);
    }
  });

  test("more and less differ for people who cannot tell red from green", () => {
    for (const distance of [1, 2, 3]) {
      const [less, more] = [3 - distance, 3 + distance].map((n) => deuteranope(theme.differences[n]?.fill ?? ""));
      const apart = Math.hypot(...(less ?? []).map((part, n) => part - (more?.[n] ?? 0)));
      expect(apart, `step ${distance} of ${name}`).toBeGreaterThan(35);
    }
  });

  test("high contrast draws borders", () => {
    expect(theme.border !== null).toBe(name.startsWith("highContrast"));
  });
});

const theme = flameTheme("dark", readTheme("dark"));
const look = { name: "f", label: -1, delta: null, matches: null };

test("a match outranks a label, a label the plain colour; everything else is dimmed", () => {
  expect(paintOf({ ...look, matches: true, label: 1 }, theme, true)).toBe(theme.match);
  expect(paintOf({ ...look, matches: false, label: 1 }, theme, true)).toBe(theme.muted);
  expect(paintOf({ ...look, label: 1 }, theme, true)).toBe(theme.labels[1]);
  expect(paintOf(look, theme, true)).toBe(theme.muted);
  expect(theme.plain).toContain(paintOf(look, theme, false));
  expect(labelPaint(theme, 9)).toBe(theme.labels[1]);
});

test.each([
  [0, 0],
  [0.003, 0],
  [0.02, 1],
  [-0.1, -2],
  [1, 3],
  [-1, -3],
])("a difference of %d of the greatest is step %d", (delta, step) => {
  expect(differenceStep(delta)).toBe(step);
  expect(paintOf({ ...look, delta }, theme, false)).toBe(theme.differences[3 + step]);
});

test.each([
  ["", 0x811c9dc5],
  ["a", 0xe40c292c],
  ["foobar", 0xbf9cf968],
])("the hash of %j is FNV-1a's", (text, value) => {
  expect(hash(text)).toBe(value);
});
