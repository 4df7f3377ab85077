/** Reads pprof's table of functions, and compares it with ours. */
import { StepError } from "../../lib/steps.mjs";

/**
 * The functions of `pprof -top`.
 * @param {string} text
 * @returns {Map<string, { flat: number, cum: number }>}
 */
export function parseTop(text) {
  const lines = text.split("\n");
  const head = lines.findIndex((line) => /^\s*flat\s+flat%\s+sum%\s+cum\s+cum%\s*$/.test(line));
  if (head < 0) {
    throw new StepError(`This is not a table from pprof:\n${text.slice(0, 500)}`);
  }
  const functions = new Map();
  for (const line of lines.slice(head + 1).filter((it) => it.trim() !== "")) {
    const found = /^\s*(?<flat>\S+)\s+\S+%?\s+\S+%?\s+(?<cum>\S+)\s+\S+%? {1,2}(?<name>.*)$/.exec(line)?.groups;
    if (found === undefined) {
      throw new StepError(`This is not a row of pprof's table: ${line}`);
    }
    // The note on inlining is not part of the name.
    const name = found.name.replace(/ \((partial-)?inline\)$/, "");
    const before = functions.get(name) ?? { flat: 0, cum: 0 };
    functions.set(name, { flat: before.flat + number(found.flat), cum: before.cum + number(found.cum) });
  }
  return functions;
}

/** `-1234.50ns`. The unit is known, because an option sets it. */
function number(text) {
  const value = Number.parseFloat(text);
  if (!Number.isSafeInteger(value)) {
    throw new StepError(`pprof prints ${text}, which is not a whole number.`);
  }
  return value;
}

/** Our name for samples without a stack, which pprof only counts in its total. It is not a function. */
const noStack = "[no stack]";

/**
 * The differences, one sentence each. A function that one side does not have is 0 there.
 * @param {{ name: string, base: number, cum: number }[]} ours
 * @param {Map<string, { flat: number, cum: number }>} theirs
 */
export function compare(ours, theirs) {
  const found = new Map(
    ours.filter(({ name }) => name !== noStack).map(({ name, base, cum }) => [name, { flat: base, cum }]),
  );
  const names = new Set([...found.keys(), ...theirs.keys()]);
  const none = { flat: 0, cum: 0 };
  const problems = [...names].flatMap((name) => {
    const [a, b] = [found.get(name) ?? none, theirs.get(name) ?? none];
    return a.flat === b.flat && a.cum === b.cum
      ? []
      : [`${name}: flat ${a.flat}, cum ${a.cum}; pprof says flat ${b.flat}, cum ${b.cum}`];
  });
  return { functions: names.size, problems };
}
