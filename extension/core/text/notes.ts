/** Notes below a result, as pages show them: each begins with its first sentence, and the rest is folded. */
import { count } from "./format";

/** How many notes are seen at once. */
const most = 4;
/** How many letters of a note are seen. */
const longest = 140;

export interface FoldedNote {
  begins: string;
  /** Empty: that is all. */
  rest: string;
}

export function foldNotes(notes: readonly string[]): { shown: FoldedNote[]; more: FoldedNote[] } {
  const all = notes.map(foldNote);
  // One note more takes no more room than the line that says that there is one.
  const at = all.length > most + 1 ? most : all.length;
  return { shown: all.slice(0, at), more: all.slice(at) };
}

export function moreText(more: readonly FoldedNote[]): string {
  return count(more.length, "more note");
}

/** After its first sentence, else after a part of it, else after a word. */
export function foldNote(note: string): FoldedNote {
  if (note.length <= longest) {
    return { begins: note, rest: "" };
  }
  const ends = [/[.!?](?=\s)/g, /[;:](?=\s)/g].map((end) => lastBefore(note, end));
  const at = ends.find((it) => it > 0);
  if (at !== undefined) {
    return { begins: note.slice(0, at), rest: note.slice(at).trimStart() };
  }
  const word = note.lastIndexOf(" ", longest);
  const cut = word > 0 ? word : longest;
  return { begins: `${note.slice(0, cut)}…`, rest: `…${note.slice(cut)}` };
}

/** Where the last of the ends lies that is not too far; 0: none is. */
function lastBefore(note: string, end: RegExp): number {
  return Math.max(0, ...[...note.matchAll(end)].map(({ index }) => index + 1).filter((at) => at <= longest));
}
