/**
 * Prediction against reality: every sample's targets at 25, 50 and 75 %, by really reducing the work, by Fulcrum, and
 * by coz. Writes docs/accuracy.md. The whole campaign takes about half an hour.
 */
import { StepError, step } from "../lib/steps.mjs";
import { compare } from "./accuracy/compare.mjs";
import { measureCoz } from "./accuracy/coz.mjs";
import { measureFulcrum, reread } from "./accuracy/fulcrum.mjs";
import { accuracyReport, summaryLine } from "./accuracy/report.mjs";
import { measureTruth } from "./accuracy/truth.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { allSamples, buildSample, chooseSamples } from "./lib/samples.mjs";

/** Seconds a sample, all its targets together. The limit for Fulcrum is 60. */
const budget = { truth: 48, rounds: 7, fulcrum: 58, coz: 26 };
const quickBudget = { truth: 2, rounds: 2, fulcrum: 8, coz: 6 };

const parts = { truth: measureTruth, fulcrum: measureFulcrum, coz: measureCoz };

export async function bench(args) {
  const options = parseOptions(args);
  const samples = allSamples().filter((sample) => sample.targets.length > 0);
  const chosen = chooseSamples(samples, options.names);
  const journal = new Journal(options.quick ? "accuracy-quick" : "accuracy");
  if (!options.report) {
    warnIfBusy();
    await campaign(chosen, journal, options);
  }
  const results = {};
  for (const sample of samples) {
    const key = `${sample.name}/fulcrum`;
    const recorded = journal.get(key);
    results[key] = options.report && recorded !== undefined ? await reread(sample, recorded) : recorded;
  }
  const rows = samples.flatMap((sample) =>
    compare(sample, (part) => results[`${sample.name}/${part}`] ?? journal.get(`${sample.name}/${part}`)),
  );
  const report = accuracyReport(rows, samples, journal);
  if (options.quick) {
    console.log(`\n${report}\n\nThese were tiny runs (--quick): the numbers say nothing, and docs/accuracy.md stays.`);
  } else {
    writeSection("docs/accuracy.md", "accuracy", report);
  }
  console.log(`\n${summaryLine(rows)}`);
  const names = chosen.map((sample) => sample.name);
  const failed = rows.filter((row) => names.includes(row.sample) && row.fulcrum?.failure !== undefined);
  if (failed.length > 0) {
    const lines = failed.map(
      ({ sample, target, fulcrum }) => `${sample}, ${target}: ${fulcrum.failure}. ${fulcrum.detail ?? ""}`,
    );
    throw new StepError(["Fulcrum says nothing about these targets:", ...new Set(lines)].join("\n"));
  }
}

async function campaign(chosen, journal, { quick, resume }) {
  journal.put("machine", await describeMachine());
  for (const [index, sample] of chosen.entries()) {
    const missing = Object.keys(parts).filter((part) => !resume || journal.get(`${sample.name}/${part}`) === undefined);
    if (missing.length === 0) {
      continue;
    }
    console.log(`${sample.name} (${index + 1} of ${chosen.length})`);
    const program = await step("  build", () => buildSample(sample));
    for (const part of missing) {
      const value = await step(`  ${part}`, () => parts[part](sample, program, quick ? quickBudget : budget));
      journal.put(`${sample.name}/${part}`, value);
    }
  }
}
