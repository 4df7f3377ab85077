/** Lines that count as progress without a change of the source: kept in the workspace, and moved while the user types. */
import * as path from "node:path";
import { type Change, shiftLines } from "./shift";

export interface ProgressLine {
  /** Absolute. */
  file: string;
  /** 0-based. */
  line: number;
}

/** The lines with one more, or without it when it was there. */
export function toggled(lines: readonly ProgressLine[], at: ProgressLine): ProgressLine[] {
  const others = lines.filter((line) => line.file !== at.file || line.line !== at.line);
  return others.length < lines.length ? others : [...lines, at];
}

/** After edits in one file. Two that meet on a line are one. The same array when nothing moved. */
export function moved(
  lines: readonly ProgressLine[],
  file: string,
  changes: readonly Change[],
): readonly ProgressLine[] {
  const here = lines.filter((line) => line.file === file);
  const after = shiftLines(here, changes);
  if (after.every((line, at) => line.line === here[at]?.line)) {
    return lines;
  }
  const others = lines.filter((line) => line.file !== file);
  const unique = new Map(after.map((line) => [line.line, line]));
  return [...others, ...unique.values()];
}

/** After a file or a folder got another name. */
export function renamed(lines: readonly ProgressLine[], from: string, to: string): ProgressLine[] {
  return lines.map((line) => {
    const isInside = line.file === from || line.file.startsWith(`${from}${path.sep}`);
    return isInside ? { ...line, file: to + line.file.slice(from.length) } : line;
  });
}

/** After a file or a folder was deleted. */
export function without(lines: readonly ProgressLine[], gone: string): ProgressLine[] {
  return lines.filter(({ file }) => file !== gone && !file.startsWith(`${gone}${path.sep}`));
}

/**
 * How the engine names a line: `app/src/main.cpp:42`. With the folder's name, for many libraries have a `src/lib.rs`,
 * too.
 */
export function locationOf({ file, line }: ProgressLine, folder: string): string {
  const relative = path.relative(folder, file);
  const isInside = !relative.startsWith("..") && !path.isAbsolute(relative);
  const shown = isInside ? path.join(path.basename(folder), relative) : file;
  return `${shown.split(path.sep).join("/")}:${line + 1}`;
}

/**
 * The lines of one program: those whose files' names are in it, as debug information has them. When it has none of them,
 * which happens where debug information is compressed, all: the engine looks more closely.
 */
export function linesOfProgram(lines: readonly ProgressLine[], holds: (text: string) => boolean): ProgressLine[] {
  const known = lines.filter(({ file }) => holds(path.basename(file)));
  return known.length > 0 ? known : [...lines];
}

/** Languages in which lines can count as progress. */
export const progressLanguages: readonly string[] = ["c", "cpp", "cuda-cpp", "rust"];

/** The 0-based lines of a source text that have a progress point of any kind. */
export function pointsIn(text: string, language: string): number[] {
  // Most files have none, and this runs while the user types.
  if (!/FULCRUM_|COZ_|fulcrum_progress/.test(text)) {
    return [];
  }
  const macro =
    language === "rust"
      ? /\bfulcrum_progress::(progress|begin|end|scope)!|^\s*progress!\s*\(/
      : /\b(FULCRUM|COZ)_(PROGRESS(_NAMED)?|BEGIN|END)\b/;
  return text
    .split("\n")
    .flatMap((line, at) => (macro.test(line) && !/^\s*(\/\/|\*|#\s*define)/.test(line) ? [at] : []));
}
