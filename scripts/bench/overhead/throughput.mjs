/** A sample's throughput alone and in each configuration, in interleaved runs with the same number of units. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { root, StepError } from "../../lib/steps.mjs";
import { Interrupted } from "../lib/children.mjs";
import { calibrate, runUnits } from "../lib/measure.mjs";
import { buildSample } from "../lib/samples.mjs";

const fulcrum = [path.join(root, "bin", "fulcrum"), "run", "--quiet"];
const results = path.join(root, "out", "bench", "overhead");

/**
 * Each configuration adds something to the one before, as in Figure 9. FULCRUM_ONLY is the recorder's switch for
 * measurements: `hooks` only loads the runtime, `sampling` takes samples but makes no experiments.
 */
const configurations = [
  { name: "alone", under: () => [] },
  { name: "hooks", under: recorded(), env: { FULCRUM_ONLY: "hooks" } },
  { name: "sampling", under: recorded(), env: { FULCRUM_ONLY: "sampling" } },
  { name: "full", under: recorded() },
];
/** The first experiment waits until the limit allows it, 4 and 14 s, so these do more work, in two rounds. */
const limits = [
  { name: "budget10", times: 5, rounds: 2, under: recorded("--max-overhead", "10%") },
  { name: "budget3", times: 10, rounds: 2, under: recorded("--max-overhead", "3%") },
];

function recorded(...options) {
  return (output) => [...fulcrum, "--output", output, ...options, "--"];
}

/**
 * @param {{ seconds: number, rounds: number, peer?: import("../accuracy/peers.mjs").Peer, isLimited: boolean }} options
 *   `isLimited`: whether it is measured with a limit of overhead too, which takes twice as long as all the rest
 * @returns {Promise<{ units: number, seconds: Record<string, number[]>, experiments: Record<string, number[]>,
 *   failures: Record<string, string> }>} seconds for these units by the sample's own clock, one value per round
 */
export async function measureThroughput(sample, variant, program, { seconds, rounds, peer, isLimited }) {
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const { env } = variant;
  const units = await calibrate({ ...sample, units: variant.units }, program, seconds, { env });
  const value = { units, seconds: {}, experiments: {}, failures: {} };
  const coz = peer && { name: "coz", under: (output) => [...peer.command, "run", "-o", `${output}.coz`, "---"] };
  const all = [...configurations, ...(isLimited ? limits : []), ...(coz === undefined ? [] : [coz])];
  for (let round = 0; round < rounds; round += 1) {
    const shift = round % all.length;
    const turned = [...all.slice(shift), ...all.slice(0, shift)];
    for (const configuration of turned.filter((it) => it.rounds === undefined || round < it.rounds)) {
      await measureOne(sample, variant, program, configuration, value, `${round}`);
    }
  }
  return value;
}

/** A configuration that fails once is not tried again. Its cell gives the reason. */
async function measureOne(sample, variant, program, { name, under, env, times = 1 }, value, round) {
  if (value.failures[name] !== undefined) {
    return;
  }
  const output = path.join(results, `${name}-${round}`);
  try {
    const built = name === "coz" ? await buildSample(sample, { forCoz: true }) : program;
    const options = { under: under(output), env: { ...variant.env, ...env }, limit: 120 };
    const { seconds } = await runUnits(built, value.units * times, options);
    add(value.seconds, name, seconds / times);
    if (name !== "alone" && name !== "coz") {
      add(value.experiments, name, countExperiments(output) / seconds);
    }
  } catch (error) {
    if (!(error instanceof StepError) || error instanceof Interrupted || name === "alone") {
      throw error;
    }
    value.failures[name] = error.message;
  }
}

function add(lists, name, value) {
  lists[name] = [...(lists[name] ?? []), value];
}

function countExperiments(run) {
  const records = readdirSync(run).filter((name) => name.startsWith("causal-") && name.endsWith(".jsonl"));
  const lines = records.flatMap((name) => readFileSync(path.join(run, name), "utf8").split("\n"));
  return lines.filter((line) => /^\{"type":"(experiment|placebo)"/.test(line)).length;
}
