/**
 * Prediction against reality: every program's targets at 25, 50 and 75 %, by really leaving out the work, by Fulcrum, and by the
 * versions of coz that are here. Writes this host's table in docs/accuracy.md, and leaves those of other hosts.
 *
 * `npm run bench -- accuracy [PROGRAM…] [--busy] [--resume] [coz=FOLDER] [libelfin=FOLDER] [phoenix=FOLDER]`: the programs are the
 * samples and others' programs, which are fetched, or found in the folders. With --busy, one processor is kept busy
 * meanwhile, and the table is another one. There is a journal for each commit, so --resume goes on with what was measured
 * at this commit.
 */
import { readdirSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { root, StepError, seconds, step, tryRun } from "../lib/steps.mjs";
import { compare } from "./accuracy/compare.mjs";
import { measureCoz } from "./accuracy/coz.mjs";
import { measureFulcrum, reread } from "./accuracy/fulcrum.mjs";
import { measureLeftOut, repeats } from "./accuracy/leftOut.mjs";
import { findPeers } from "./accuracy/peers.mjs";
import { longest, plan } from "./accuracy/plan.mjs";
import { allPrograms, build, buildable, keys } from "./accuracy/programs.mjs";
import { accuracyReport, summaryLine } from "./accuracy/report.mjs";
import { measureTruth } from "./accuracy/truth.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeHost, describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { chooseSamples } from "./lib/samples.mjs";

const quickBudget = { truth: 2, rounds: 2, fulcrum: 8, coz: 6 };

export async function bench(args) {
  const options = parseOptions(args, { more: ["busy"], keys });
  const programs = allPrograms();
  const chosen = chooseSamples(programs, options.names);
  const journal = await journalOf(options);
  if (!options.report) {
    warnIfBusy();
    await campaign(chosen, journal, options);
  }
  const results = await recorded(programs, journal, options);
  const peers = journal.get("peers") ?? [];
  const keysOfPeers = peers.map(({ key }) => key);
  const rows = programs.flatMap((sample) => compare(sample, (part) => results(sample, part), keysOfPeers));
  const report = accuracyReport({ rows, programs, peers, journal, results });
  if (options.quick) {
    console.log(`\n${report}\n\nThese were tiny runs (--quick): the numbers say nothing, and docs/accuracy.md stays.`);
  } else {
    writeSection("docs/accuracy.md", `accuracy ${journal.get("host")}`, report, "accuracy");
  }
  console.log(`\n${summaryLine(rows, peers)}`);
  failures(rows, chosen);
}

/** One for each commit and host; for a report, the newest when nothing was measured at this commit. */
async function journalOf({ quick, busy, report }) {
  const commit = (await tryRun("git", ["rev-parse", "--short=10", "HEAD"])).stdout.trim();
  const beside = busy ? ", one processor busy" : "";
  const host = `${describeHost()}${beside}`;
  const kind = `accuracy-${quick ? "quick-" : ""}${host.replaceAll(/[^\w.]+/g, "-")}-`;
  const journal = new Journal(`${kind}${commit}`);
  if (!report) {
    journal.put("host", host);
    return journal;
  }
  const all = readdirSync(path.join(root, "out", "bench"))
    .filter((name) => name.startsWith(kind) && name.endsWith(".jsonl"))
    .map((name) => new Journal(path.basename(name, ".jsonl")))
    .sort((a, b) => a.newest().localeCompare(b.newest()));
  const found = journal.get("host") === undefined ? all.at(-1) : journal;
  if (found === undefined) {
    throw new StepError(`Nothing has been measured on this host yet (${host}).`);
  }
  return found;
}

/** A sample's result of a part: what was recorded, in a report by today's analysis where the run is still there. */
async function recorded(programs, journal, { report }) {
  const read = new Map();
  for (const sample of programs) {
    const key = `${sample.name}/fulcrum`;
    const value = journal.get(key);
    read.set(key, report && value !== undefined ? await reread(sample, value) : value);
  }
  return (sample, part) => read.get(`${sample.name}/${part}`) ?? journal.get(`${sample.name}/${part}`);
}

function failures(rows, chosen) {
  const names = chosen.map((sample) => sample.name);
  const failed = rows.filter((row) => names.includes(row.sample) && row.fulcrum?.failure !== undefined);
  if (failed.length > 0) {
    const lines = failed.map(
      ({ sample, target, fulcrum }) => `${sample}, ${target}: ${fulcrum.failure}. ${fulcrum.detail ?? ""}`,
    );
    throw new StepError(["Fulcrum says nothing about these targets:", ...new Set(lines)].join("\n"));
  }
}

/** Everything is built before anything is measured. */
async function campaign(chosen, journal, options) {
  journal.put("machine", await describeMachine());
  const peers = await findPeers(options.folders);
  journal.put("peers", peers);
  const { there, missing } = await step("build the programs", () =>
    buildable(chosen, options.folders, peers.length > 0),
  );
  for (const { name, why } of missing) {
    journal.put(`${name}/missing`, why);
  }
  const { budget, seconds: most } = plan(there, peers.length);
  const todo = there.flatMap((sample) => parts(sample, peers, options.folders).map((part) => ({ sample, ...part })));
  const left = todo.filter(
    ({ sample, name }) => !options.resume || journal.get(`${sample.name}/${name}`) === undefined,
  );
  if (!options.quick) {
    const rest = left.reduce((sum, { sample, name }) => sum + longest(budget(sample), name), 0);
    const all = `all of it takes ${seconds(1000 * most)} of a quiet machine at most`;
    console.log(
      `${there.length} programs: ${all}; ${left.length} of ${todo.length} parts are left, ${seconds(1000 * rest)}.`,
    );
  }
  const busy = options.busy ? [new Worker("for (;;);", { eval: true })] : [];
  try {
    for (const { sample, name, measure } of left) {
      const given = options.quick ? quickBudget : budget(sample);
      journal.put(`${sample.name}/${name}`, await step(`${sample.name}: ${name}`, () => measure(given)));
    }
  } finally {
    await Promise.all(busy.map((worker) => worker.terminate()));
  }
}

function parts(sample, peers, folders) {
  const program = () => build(sample, folders);
  const forCoz = () => build(sample, folders, { forCoz: true });
  return [
    { name: "truth", measure: async (budget) => measureTruth(sample, await program(), budget) },
    ...(repeats(sample) ? [{ name: "left out", measure: async () => measureLeftOut(sample, await program()) }] : []),
    { name: "fulcrum", measure: async (budget) => measureFulcrum(sample, await program(), budget) },
    ...peers.map((peer) => ({
      name: peer.key,
      measure: (budget) => measureCoz(peer, sample, forCoz, budget),
    })),
  ];
}
