/**
 * `npm run bench -- hooks`: what the hooks of transactional profiling cost a call, and a critical section that flows, beside
 * libc's own functions: hooks.c, recorded, does the same by both in turn. Writes its section of docs/benchmarks.md.
 */
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { run as compile, engineBinary, root, StepError, step } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { median } from "./lib/statistics.mjs";

/**
 * @typedef {{ first: number, early: number, median: number }} Ticks of the time stamp counter, a call
 * @typedef {{ name: string, alone: Ticks, hooked: Ticks }} Case
 */

const work = path.join(root, "out", "bench", "transactions");

export async function bench(args) {
  const options = parseOptions(args);
  const journal = new Journal(options.quick ? "hooks-quick" : "hooks");
  if (!options.report) {
    warnIfBusy();
    mkdirSync(work, { recursive: true });
    const program = path.join(work, "hooks");
    const source = path.join(root, "scripts", "bench", "transactions", "hooks.c");
    await compile("gcc", ["-O2", "-o", program, source, "-lpthread", "-ldl"]);
    const sizes = options.quick ? { runs: 1, rounds: 400 } : { runs: 9, rounds: 4000 };
    journal.put("machine", await describeMachine());
    journal.put("runs", await step("hooks", () => measure(program, sizes)));
    journal.put("sizes", sizes);
  }
  const text = report(journal);
  if (options.quick) {
    console.log(`\n${text}\n\nThis was one short run (--quick): docs/benchmarks.md stays.`);
  } else {
    writeSection("docs/benchmarks.md", "hooks", text, "transactions");
  }
}

/** @returns {Promise<Case[][]>} each run's cases */
async function measure(program, { runs, rounds }) {
  const all = [];
  for (let run = 0; run < runs; run += 1) {
    const output = path.join(work, "hooks-run");
    rmSync(output, { recursive: true, force: true });
    const recorded = [
      engineBinary,
      "transactions",
      "run",
      "--quiet",
      "--no-pauses",
      "--output",
      output,
      "--",
      program,
      `${rounds}`,
    ];
    const { code, stdout, stderr } = await runChild(recorded);
    const lines = stdout.split("\n").filter((line) => line.includes("\t"));
    if (code !== 0 || lines.length === 0) {
      throw new StepError(`The hooks could not be measured:\n${stderr}`);
    }
    all.push(lines.map(parsed));
  }
  return all;
}

/** A line of the program's; of its quartiles, only the median is kept, since runs differ more than batches. */
function parsed(line) {
  const [name, ...numbers] = line.split("\t");
  const [alone, hooked] = [numbers.slice(0, 3), numbers.slice(5, 8)].map((it) => {
    const [first, early, last] = it.map(Number);
    return { first, early, median: last };
  });
  return { name, alone, hooked };
}

function report(journal) {
  const { machine, revision } = journal.get("machine");
  const { runs: count } = journal.get("sizes");
  const runs = journal.get("runs");
  const rows = runs[0].map(({ name }, row) => {
    const of = (/** @type {(it: Case) => number} */ what) => runs.map((cases) => what(cases[row]));
    const more = of(({ alone, hooked }) => hooked.median - alone.median);
    const numbers = [({ alone }) => alone.median, ({ hooked }) => hooked.first, ({ hooked }) => hooked.early];
    const cells = [...numbers, ({ hooked }) => hooked.median].map((what) => whole(median(of(what))));
    return `| ${[name, ...cells, `${signed(median(more))} (${whole(Math.min(...more))}…${whole(Math.max(...more))})`].join(" | ")} |`;
  });
  return `## Hooks of transactional profiling

${machine}; ${revision}; ${journal.dates()}. What a call costs, or a critical section from before its lock to after its unlock, in ticks of the time
stamp counter: with libc's own functions, and with the same functions hooked, in turn in one recorded process. *First* is the first
call, *early* the mean of the first 200, *then* the median of the second half. Each number is the median of ${count} runs; *more* is
what *then* is above libc's, with its range.

| | alone | first | early | then | more |
| --- | --: | --: | --: | --: | --: |
${rows.join("\n")}`;
}

const whole = (value) => `${Math.round(value)}`;
const signed = (value) => `${value < 0 ? "−" : "+"}${whole(Math.abs(value))}`;
