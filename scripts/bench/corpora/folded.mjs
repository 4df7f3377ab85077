/** Folded stacks compared as `stackcollapse-perf.pl` writes them: the same stacks with the same sums. */

/**
 * A function's name as stackcollapse-perf.pl tidies it: without arguments, quotes, and what says where its code was from.
 * @param {string} name
 */
export function tidy(name) {
  let tidied = name.replace(/_\[[kji]\]$/, "");
  if (!/\.\(.*\)\./.test(tidied)) {
    tidied = tidied.replace(/\((?!anonymous namespace\)).*/, "");
  }
  tidied = tidied.replaceAll(/["']/g, "").trim();
  // Where perf has no name, one of the two names the file instead.
  if (tidied === "" || /^\[.*\]$/.test(tidied)) {
    return "[no name]";
  }
  // Java's descriptors of classes.
  return tidied.includes("/") ? tidied.replace(/^L/, "") : tidied;
}

/**
 * Sums by stack. The outermost frame is left out when it is a process: `dd`, `java-7/8`, `java (7/8)`.
 * @param {string} text
 * @param {(frames: string[], all: string[][]) => string[]} inner gives a stack without its process
 * @returns {Map<string, number>}
 */
export function sums(text, inner) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const stacks = lines.map((line) => {
    const at = line.lastIndexOf(" ");
    return { frames: line.slice(0, at).split(";"), count: Number(line.slice(at + 1)) };
  });
  const all = stacks.map(({ frames }) => frames);
  const found = new Map();
  for (const { frames, count } of stacks) {
    const key = inner(frames, all).map(tidy).join(";");
    found.set(key, (found.get(key) ?? 0) + count);
  }
  return found;
}

/** Theirs always begin with the process. */
export function afterProcess(frames) {
  return frames.slice(1);
}

/** Ours begin with it when there are several. */
export function afterContainer(frames, all) {
  const isContainer = (name) => /^.* \(\d+(\/\d+)?\)$/.test(name);
  return all.every(([first]) => isContainer(first)) ? frames.slice(1) : frames;
}

/**
 * How many numbers were compared, and how the two differ, a sentence each.
 * @param {Map<string, number>} ours
 * @param {Map<string, number>} theirs
 */
export function compareSums(ours, theirs) {
  const stacks = new Set([...ours.keys(), ...theirs.keys()]);
  const differences = [...stacks]
    .filter((stack) => (ours.get(stack) ?? 0) !== (theirs.get(stack) ?? 0))
    .map((stack) => `${stack}: ${ours.get(stack) ?? 0}, the peer says ${theirs.get(stack) ?? 0}`);
  return { numbers: stacks.size, differences };
}
