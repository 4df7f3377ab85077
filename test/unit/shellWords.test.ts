import { describe, expect, test } from "vitest";
import { joinShellWords, ShellWordsError, splitShellWords } from "../../extension/core/text/shellWords";

describe("a typed line is split like in a shell", () => {
  const table: [typed: string, words: string[]][] = [
    ["", []],
    ["   \t ", []],
    ["one two", ["one", "two"]],
    ["  one\ttwo  ", ["one", "two"]],
    ["'one two' three", ["one two", "three"]],
    ['"one two" three', ["one two", "three"]],
    ["''", [""]],
    ['a "" b', ["a", "", "b"]],
    ["--name='a b'", ["--name=a b"]],
    ["a'b'\"c\"d", ["abcd"]],
    ["one\\ two", ["one two"]],
    ["'a\\b'", ["a\\b"]],
    ['"a\\"b\\\\c"', ['a"b\\c']],
    ['"a\\nb"', ["a\\nb"]],
    ["$HOME ~ *.c", ["$HOME", "~", "*.c"]],
    ["größe 😀", ["größe", "😀"]],
  ];
  test.each(table)("%j", (typed, words) => {
    expect(splitShellWords(typed)).toEqual(words);
    expect(splitShellWords(joinShellWords(words))).toEqual(words);
  });
});

describe("an error points at what has no end", () => {
  const table: [typed: string, offset: number, says: string][] = [
    ["a 'b", 2, "The single quote at column 3 has no end. Close it."],
    ['"a\\"', 0, "The double quote at column 1 has no end. Close it."],
    ["a\\", 1, "The backslash at column 2 escapes nothing. Write \\\\ for a backslash."],
  ];
  test.each(table)("%j", (typed, offset, says) => {
    let thrown: unknown;
    try {
      splitShellWords(typed);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ShellWordsError);
    expect((thrown as ShellWordsError).offset).toBe(offset);
    expect((thrown as ShellWordsError).message).toBe(says);
  });
});
