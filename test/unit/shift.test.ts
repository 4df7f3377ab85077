import { expect, test } from "vitest";
import { type Change, shiftLines } from "../../extension/core/causal/shift";

const change = (startLine: number, startCharacter: number, endLine: number, text: string): Change => ({
  startLine,
  startCharacter,
  endLine,
  text,
});

const table: [name: string, change: Change, lines: number[]][] = [
  ["typing in a line moves nothing", change(5, 3, 5, "x"), [2, 5, 8]],
  ["a new line above", change(0, 0, 0, "\n"), [3, 6, 9]],
  ["a new line inside the line keeps it", change(5, 4, 5, "\n"), [2, 5, 9]],
  ["a new line at its beginning moves it down", change(5, 0, 5, "\n"), [2, 6, 9]],
  ["three lines pasted", change(5, 0, 5, "a\nb\nc\n"), [2, 8, 11]],
  ["a line above deleted", change(3, 0, 4, ""), [2, 4, 7]],
  ["the line deleted: it moves to where the deletion began", change(4, 2, 6, ""), [2, 4, 6]],
  ["a range replaced by the same number of lines", change(4, 0, 6, "x\ny\nz"), [2, 5, 8]],
];

test.each(table)("%s", (_, edit, expected) => {
  const lines = [2, 5, 8].map((line) => ({ line }));
  expect(shiftLines(lines, [edit]).map((line) => line.line)).toEqual(expected);
});
