/**
 * The same answer every time? `npm run bench -- repeat [--rounds N] [--seconds N] [--resume] [alone | busy | SAMPLE]…`: profiles
 * each sample repeatedly (20 rounds by default), alone and beside one busy processor. A round is one Fulcrum run with default
 * options, between two measurements of the real gain of leaving out the work. Counts how often "contention" is wrongly reported
 * for a line, and how often the interval of a level contains the gain measured in the same minutes.
 */
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { root, StepError, step } from "../lib/steps.mjs";
import { fulcrum, readPredictions } from "./accuracy/profile.mjs";
import { levels } from "./accuracy/truth.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { calibrate, cost, runUnits } from "./lib/measure.mjs";
import { allSamples, buildSample, chooseSamples } from "./lib/samples.mjs";
import { median, speedup } from "./lib/statistics.mjs";

const hosts = ["alone", "busy"];
const usage = "usage: npm run bench -- repeat [--rounds N] [--seconds N] [--resume] [alone | busy | SAMPLE]….";
/** Seconds of one run that measures the truth. */
const unit = 0.5;
/** Rounds that measure the truth before a Fulcrum run, and after it. */
const pairs = 3;

export async function bench(args) {
  const { rounds, seconds, resume, chosenHosts, samples } = options(args);
  const journal = new Journal("repeat");
  warnIfBusy();
  const machine = await describeMachine();
  const mine = ({ sample, host, round }) => `${machine.machine} ${machine.revision}/${sample}/${host}/${round}`;
  for (const host of chosenHosts) {
    const busy = host === "busy" ? [new Worker("for (;;);", { eval: true })] : [];
    try {
      for (const sample of samples) {
        const program = await step(`${sample.name}: build`, () => buildSample(sample));
        for (let round = 1; round <= rounds; round += 1) {
          const key = mine({ sample: sample.name, host, round });
          if (resume && journal.get(key) !== undefined) {
            continue;
          }
          const title = `${sample.name}, ${host}: round ${round} of ${rounds}`;
          const result = await step(title, () => oneRound(sample, program, seconds));
          journal.put(key, { machine, ...result });
        }
      }
    } finally {
      await Promise.all(busy.map((worker) => worker.terminate()));
    }
  }
  writeSection("docs/accuracy.md", "repeat", report(journal));
}

function options(args) {
  const found = { rounds: 20, seconds: 45, resume: false, names: [] };
  for (let at = 0; at < args.length; at += 1) {
    const name = args[at];
    if (name === "--rounds" || name === "--seconds") {
      at += 1;
      found[name.slice(2)] = Number(args[at]);
    } else if (name === "--resume") {
      found.resume = true;
    } else {
      found.names.push(name);
    }
  }
  const wrong = (number) => !Number.isInteger(number) || number < 1;
  if (wrong(found.rounds) || wrong(found.seconds) || found.names.some((name) => name.startsWith("--"))) {
    throw new StepError(usage);
  }
  const chosenHosts = hosts.filter((host) => found.names.includes(host));
  const names = found.names.filter((name) => !hosts.includes(name));
  return {
    ...found,
    chosenHosts: chosenHosts.length > 0 ? chosenHosts : hosts,
    samples: chooseSamples(allSamples(), names.length > 0 ? names : ["two-threads", "bounded-queue"]),
  };
}

/** One run of Fulcrum between two measurements. */
async function oneRound(sample, program, seconds) {
  const units = await calibrate(sample, program, unit);
  const costs = { full: [] };
  await measure(sample, program, units, costs);
  const folder = path.join(root, "out", "bench", "runs", `repeat-${sample.name}`);
  mkdirSync(path.dirname(folder), { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  const args = ["run", "--quiet", "--duration", `${seconds}s`, "--output", folder];
  const done = await runChild([fulcrum, ...args, "--", program], { limit: seconds + 60 });
  if (done.code !== 0) {
    throw new StepError(`${done.stderr.trimEnd()}\n\`fulcrum ${args.join(" ")}\` failed with exit code ${done.code}.`);
  }
  await measure(sample, program, units, costs);
  const predicted = {};
  for (const target of sample.targets) {
    predicted[target.name] = await readPredictions(folder, sample, target);
  }
  return { costs, predicted };
}

/** Measures the whole program and each reduced one, in turn, and adds the costs. */
async function measure(sample, program, units, costs) {
  for (let pair = 0; pair < pairs; pair += 1) {
    costs.full.push(cost(sample, await runUnits(program, units)));
    for (const { name } of sample.targets) {
      for (const percent of levels) {
        const key = `${name}:${percent}`;
        const report = await runUnits(program, units, { env: { SAMPLE_REDUCE: key } });
        costs[key] = [...(costs[key] ?? []), cost(sample, report)];
      }
    }
  }
}

function report(journal) {
  const all = [...journal.records.values()].map(({ key, value }) => ({ key: key.split("/"), ...value }));
  const groups = new Map();
  for (const { key, ...result } of all) {
    const group = JSON.stringify([result.machine.machine, result.machine.revision, ...key.slice(-3, -1)]);
    groups.set(group, [...(groups.get(group) ?? []), result]);
  }
  const rows = [...groups].flatMap(([group, results]) => {
    const [machine, revision, name, host] = JSON.parse(group);
    const sample = allSamples().find((it) => it.name === name);
    const cells = (sample?.targets ?? []).flatMap((target) =>
      levels.map((percent) => cell(results, target.name, percent)),
    );
    return cells.map((it) => `| ${[machine, revision, name, host, ...it].join(" | ")} |`);
  });
  return [
    "## The same answer every time",
    "",
    "`npm run bench -- repeat`: the same program, profiled repeatedly with default options except the duration, alone and beside one",
    "busy processor. *Actual*: the median of the real gain of leaving out the work, measured before and after each run. *Predicted*: the",
    "median of the predictions. *Inside*: how many intervals contain the actual value of their own round. *Contention*: how many runs",
    "reported contention for the line, which is wrong for all of them.",
    "",
    "| machine | revision | sample | beside | target | level | actual | predicted | inside | contention |",
    "|---|---|---|---|---|---:|---:|---:|---:|---:|",
    ...rows,
  ].join("\n");
}

/** The results for a target's level, over all rounds. */
function cell(results, name, percent) {
  const rounds = results.map(({ costs, predicted }) => ({
    actual: speedup(costs.full, costs[`${name}:${percent}`]).value,
    prediction: predicted[name]?.levels?.[percent],
    contention: predicted[name]?.contention === true,
  }));
  const answered = rounds.filter(({ prediction }) => prediction !== undefined);
  const inside = answered.filter(
    ({ actual, prediction: { low, high } }) => low !== null && high !== null && low <= actual && actual <= high,
  );
  const percentage = (values) => (values.length === 0 ? "–" : `${(100 * median(values)).toFixed(1)} %`);
  return [
    name,
    `${percent} %`,
    percentage(rounds.map(({ actual }) => actual)),
    percentage(answered.map(({ prediction }) => prediction.value)),
    `${inside.length} of ${rounds.length}`,
    `${rounds.filter(({ contention }) => contention).length} of ${rounds.length}`,
  ];
}
