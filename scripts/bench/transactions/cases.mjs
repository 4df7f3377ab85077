/** What the benchmarks of cases have in common: cases are measured one by one, and a section of docs/accuracy.md shows all. */
import { loadavg } from "node:os";
import { StepError, step } from "../../lib/steps.mjs";
import { writeSection } from "../lib/document.mjs";
import { Journal } from "../lib/journal.mjs";
import { describeMachine } from "../lib/machine.mjs";
import { parseOptions } from "../lib/options.mjs";

/**
 * @template {{ name: string }} C
 * @typedef {object} Cases
 * @property {string} name the section's
 * @property {string} [behind] the section behind which a new one is put
 * @property {C[]} cases those that can be measured here
 * @property {(it: C, quick: boolean) => Promise<object>} measure
 * @property {(rows: Array<[C, any]>) => string} report what was measured, as Markdown
 * @property {(result: any) => string[]} wrong what is not as it must be, a sentence each
 */

/**
 * Measures the cases that the arguments name, or all; writes the section; fails when something is wrong.
 * @template {{ name: string }} C
 * @param {string[]} args
 * @param {Cases<C>} about
 */
export async function measureCases(args, { name, behind, cases, measure, report, wrong }) {
  const options = parseOptions(args);
  const chosen = cases.filter(
    ({ name }) => options.names.length === 0 || options.names.some((it) => name.includes(it)),
  );
  if (chosen.length === 0) {
    throw new StepError(`There is no such case: ${cases.map((it) => it.name).join(", ")}.`);
  }
  const journal = new Journal(options.quick ? `${name}-quick` : name);
  if (!options.report) {
    const [load] = loadavg();
    journal.put("machine", { ...(await describeMachine()), load });
    for (const it of chosen.filter((it) => !options.resume || journal.get(it.name) === undefined)) {
      journal.put(it.name, await step(it.name, () => measure(it, options.quick)));
    }
  }
  const rows = cases.filter((it) => journal.get(it.name) !== undefined).map((it) => [it, journal.get(it.name)]);
  const text = `${report(rows)}\n\n${where(journal)}`;
  if (options.quick) {
    console.log(`\n${text}\n\nThese were small numbers (--quick), and docs/accuracy.md stays as it is.`);
  } else {
    writeSection("docs/accuracy.md", name, text, behind);
  }
  const sentences = rows.flatMap(([it, result]) => wrong(result).map((sentence) => `${it.name}: ${sentence}`));
  if (sentences.length > 0) {
    throw new StepError(sentences.join("\n"));
  }
}

function where(journal) {
  const { machine, revision, load } = journal.get("machine");
  const busy = load > 1 ? ` Others used the machine at the same time (load ${load.toFixed(1)} at the beginning).` : "";
  return `Measured ${journal.dates()} on ${machine}; ${revision}.${busy}`;
}

/** A table in Markdown. The first column is left, the others are right. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, at) => (at === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n");
}

export const grouped = (number) => number.toLocaleString("en");
