/**
 * `npm run bench -- overhead [SAMPLE…] [--resume] [coz=FOLDER] [libelfin=FOLDER]`: what profiling costs the program, split like the
 * paper's Figure 9: startup, hooks, sampling, delays; and what coz costs it, that of a checkout if there is one. Writes its section
 * of docs/benchmarks.md.
 */
import { StepError, step } from "../lib/steps.mjs";
import { findPeers } from "./accuracy/peers.mjs";
import { keys } from "./accuracy/programs.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { allSamples, buildSample, chooseSamples, variantsOf } from "./lib/samples.mjs";
import { measureEngine } from "./overhead/engine.mjs";
import { countLocks } from "./overhead/locks.mjs";
import { failures, isLockHeavy, overheadReport } from "./overhead/report.mjs";
import { measureStartup } from "./overhead/startup.mjs";
import { measureThroughput } from "./overhead/throughput.mjs";

const normal = { seconds: 1.8, rounds: 3, starts: 15, recorded: 30 };
const quick = { seconds: 0.5, rounds: 1, starts: 2, recorded: 3 };
/** A program with few threads, and one with many locks. */
const besides = ["two-threads", "sqlite-inserts"];
/** Those that are measured with a limit of overhead too. */
const limited = [...besides, "barrier", "semaphore"];

export async function bench(args) {
  const options = parseOptions(args, { keys });
  const samples = allSamples();
  const chosen = chooseSamples(samples, options.names);
  const journal = new Journal(options.quick ? "overhead-quick" : "overhead");
  if (!options.report) {
    warnIfBusy();
    const missing = (key) => !options.resume || journal.get(key) === undefined;
    const peer = (await findPeers(options.folders)).at(-1);
    const budget = { ...(options.quick ? quick : normal), peer };
    await campaign(chosen, journal, budget, missing, options.names.length === 0);
  }
  const report = overheadReport(samples, journal);
  if (options.quick) {
    console.log(
      `\n${report}\n\nThese were tiny runs (--quick): the numbers mean nothing, and docs/benchmarks.md is not changed.`,
    );
  } else {
    writeSection("docs/benchmarks.md", "overhead", report);
  }
  const failed = failures(chosen, journal);
  if (failed.length > 0) {
    throw new StepError(["Fulcrum failed on these:", ...failed].join("\n"));
  }
}

async function campaign(chosen, journal, budget, missing, withStartup) {
  journal.put("machine", { ...(await describeMachine()), coz: budget.peer?.title ?? "coz is not installed" });
  if (withStartup && missing("startup")) {
    journal.put("startup", await step("startup", () => measureStartup(budget)));
  }
  if (withStartup && missing("engine")) {
    const samples = chosen.filter(({ name }) => besides.includes(name));
    journal.put("engine", await step("the engine itself", () => measureEngine(samples, budget.recorded)));
  }
  for (const [index, sample] of chosen.entries()) {
    for (const variant of variantsOf(sample).filter(({ title }) => missing(title))) {
      const value = await step(`${variant.title} (${index + 1} of ${chosen.length})`, async () => {
        const program = await buildSample(sample);
        const isLimited = limited.includes(sample.name);
        const measured = await measureThroughput(sample, variant, program, { ...budget, isLimited });
        return isLockHeavy(sample) ? { ...measured, ...(await countLocks(program, variant)) } : measured;
      });
      journal.put(variant.title, value);
    }
  }
}
