/**
 * Splits a typed command line into arguments, as a POSIX shell does, without expanding anything.
 *
 * Single quotes keep everything. Inside double quotes a backslash escapes `"`, `\`, `$` and `` ` ``; outside it escapes any
 * character. Variables, globs and `~` stay as typed: no shell runs.
 *
 * By hand, because an error must say where it is: neither `shell-quote` 1.12 nor `string-argv` 0.4 reports an open quote. The former
 * also expands variables and splits at operators, and the latter does not know escapes.
 */

export class ShellWordsError extends Error {
  constructor(
    message: string,
    /** 0-based offset of the quote or backslash that has no end. */
    readonly offset: number,
  ) {
    super(message);
    this.name = "ShellWordsError";
  }
}

export function splitShellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let index = 0;
  while (index < text.length) {
    const char = text[index] as string;
    if (/\s/.test(char)) {
      if (word !== undefined) {
        words.push(word);
        word = undefined;
      }
      index += 1;
    } else if (char === "'") {
      const end = text.indexOf("'", index + 1);
      if (end < 0) {
        throw unterminated("single quote", index);
      }
      word = (word ?? "") + text.slice(index + 1, end);
      index = end + 1;
    } else if (char === '"') {
      const quoted = readDoubleQuoted(text, index);
      word = (word ?? "") + quoted.value;
      index = quoted.end;
    } else if (char === "\\") {
      if (index + 1 >= text.length) {
        throw new ShellWordsError(
          `The backslash at column ${index + 1} escapes nothing. Write \\\\ for a backslash.`,
          index,
        );
      }
      word = (word ?? "") + text[index + 1];
      index += 2;
    } else {
      word = (word ?? "") + char;
      index += 1;
    }
  }
  if (word !== undefined) {
    words.push(word);
  }
  return words;
}

/** Writes arguments so that {@link splitShellWords} gives them back. */
export function joinShellWords(words: readonly string[]): string {
  return words.map(quoteShellWord).join(" ");
}

export function quoteShellWord(word: string): string {
  if (word !== "" && /^[\w@%+=:,./~-]+$/.test(word)) {
    return word;
  }
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function readDoubleQuoted(text: string, start: number): { value: string; end: number } {
  let value = "";
  let index = start + 1;
  while (index < text.length) {
    const char = text[index] as string;
    if (char === '"') {
      return { value, end: index + 1 };
    }
    const next = text[index + 1];
    if (char === "\\" && next !== undefined && '"\\$`'.includes(next)) {
      value += next;
      index += 2;
    } else {
      value += char;
      index += 1;
    }
  }
  throw unterminated("double quote", start);
}

function unterminated(what: string, offset: number): ShellWordsError {
  return new ShellWordsError(`The ${what} at column ${offset + 1} has no end. Close it.`, offset);
}
