/** Contexts of a thousand characters, where there is room for a line. The terminal shows the same. */

const long = 100;
const mostStages = 4;
const mostFunctions = 3;
const stages = " → ";
const functions = " > ";

/**
 * The name of a type, with the ends of a context that is too long to be read: the outermost and the innermost function of each
 * stage, and the first two and last two stages.
 */
export function brief(name: string): string {
  if (name.length <= long) {
    return name;
  }
  const all = name.split(stages).map((stage) => ends(stage.split(functions), mostFunctions, 1).join(functions));
  return ends(all, mostStages, 2).join(stages);
}

/** The first and the last few parts, if there are more than `most`. */
function ends(parts: string[], most: number, kept: number): string[] {
  return parts.length <= most ? parts : [...parts.slice(0, kept), "…", ...parts.slice(-kept)];
}
