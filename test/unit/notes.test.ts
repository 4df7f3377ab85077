/** How notes are folded. */
import { expect, test } from "vitest";
import { foldNote, foldNotes, moreText } from "../../extension/core/text/notes";

const disturbed =
  "Other programs kept 1.0 processors busy throughout. Pauses make room for them, which flatters every line: unless they belong to the measurement, run again on a quieter machine.";

test("a short note is shown whole", () => {
  expect(foldNote("12 experiments are left out.")).toEqual({ begins: "12 experiments are left out.", rest: "" });
});

test("a long note shows its first sentence", () => {
  expect(foldNote(disturbed)).toEqual({
    begins: "Other programs kept 1.0 processors busy throughout.",
    rest: "Pauses make room for them, which flatters every line: unless they belong to the measurement, run again on a quieter machine.",
  });
});

test("a sentence that is too long is cut at a comma or colon, or else between words; nothing is lost", () => {
  const parts = `${"a".repeat(100)}; ${"b ".repeat(60)}`;
  expect(foldNote(parts).begins).toBe(`${"a".repeat(100)};`);
  const words = "word ".repeat(60).trim();
  const { begins, rest } = foldNote(words);
  expect(begins.replace(/…$/, "") + rest.replace(/^…/, "")).toBe(words);
  expect(foldNote("x".repeat(300)).begins.length).toBe(141);
});

test("many notes fold the last ones, but never only one", () => {
  const notes = (count: number) => Array.from({ length: count }, (_, n) => `note ${n}`);
  expect(foldNotes(notes(5)).more).toEqual([]);
  const { shown, more } = foldNotes(notes(6));
  expect([shown.length, more.length]).toEqual([4, 2]);
  expect(moreText(more)).toBe("2\u00a0more notes");
});
