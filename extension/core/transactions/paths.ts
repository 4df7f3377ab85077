/** Call paths and contexts as they are written, with the functions in them that lead to the source. */

export interface PathPart {
  text: string;
  /** The function to go to; null for text between functions. */
  name: string | null;
}

/** Splits a text into its functions, which it contains in this order, and the text between them. */
export function pathParts(text: string, functions: readonly string[]): PathPart[] {
  const parts: PathPart[] = [];
  let from = 0;
  for (const name of functions) {
    const at = name === "" ? -1 : text.indexOf(name, from);
    if (at < 0) {
      continue;
    }
    if (at > from) {
      parts.push({ text: text.slice(from, at), name: null });
    }
    parts.push({ text: name, name });
    from = at + name.length;
  }
  if (from < text.length) {
    parts.push({ text: text.slice(from), name: null });
  }
  return parts;
}

/** What stays are called that are in no function. */
const noFunction: ReadonlySet<string> = new Set(["", "…", "request", "not known"]);

/** Whether a stage's name may be a function's. */
export function isFunction(stage: string): boolean {
  return !noFunction.has(stage) && !/^[A-Z]+ /.test(stage);
}
