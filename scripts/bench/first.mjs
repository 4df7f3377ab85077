/**
 * `npm run bench -- first [PROGRAM…] [--resume] [coz=FOLDER] …`: how long a new user waits. Every program of the accuracy table
 * is profiled without options until the run reports its first verdict, for at most 30 s, and with the installed versions of coz
 * until their profile can be plotted. Writes this host's table in docs/benchmarks.md.
 */
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { root, StepError, seconds, step, tryRun } from "../lib/steps.mjs";
import { findPeers } from "./accuracy/peers.mjs";
import { fulcrum } from "./accuracy/profile.mjs";
import { allPrograms, build, buildable, keys } from "./accuracy/programs.mjs";
import { firstReport } from "./first/report.mjs";
import { isDrawn, verdictOf } from "./first/verdict.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeHost, describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { invocation } from "./lib/measure.mjs";
import { parseOptions } from "./lib/options.mjs";
import { chooseSamples } from "./lib/samples.mjs";

/** How long to wait for an answer, seconds. */
const limits = { normal: 30, quick: 4 };
/** How often to check, milliseconds. */
const look = 200;

export async function bench(args) {
  const options = parseOptions(args, { keys });
  const programs = allPrograms();
  const chosen = chooseSamples(programs, options.names);
  const commit = (await tryRun("git", ["rev-parse", "--short=10", "HEAD"])).stdout.trim();
  const host = describeHost();
  const kind = options.quick ? "first-quick" : "first";
  const journal = new Journal(`${kind}-${host.replaceAll(/[^\w.]+/g, "-")}-${commit}`);
  const limit = options.quick ? limits.quick : limits.normal;
  if (!options.report) {
    warnIfBusy();
    await campaign(chosen, journal, { ...options, limit });
  }
  const text = firstReport({ host, programs, journal, limit });
  console.log(`\n${text}`);
  if (!options.quick) {
    writeSection("docs/benchmarks.md", `first ${host}`, text, "first");
  }
}

async function campaign(chosen, journal, options) {
  journal.put("machine", await describeMachine());
  const peers = await findPeers(options.folders);
  journal.put("peers", peers);
  const { there } = await step("build the programs", () => buildable(chosen, options.folders, peers.length > 0));
  const most = there.length * (peers.length + 1) * options.limit;
  console.log(`${there.length} programs: at most ${seconds(1000 * most)}, less if the answers come sooner.`);
  for (const sample of there.filter(({ name }) => !options.resume || journal.get(name) === undefined)) {
    journal.put(sample.name, await step(sample.name, () => measure(sample, peers, options)));
  }
}

/** @returns {Promise<Record<string, object | undefined>>} by profiler: after how many seconds, and the answer, or a failure */
async function measure(sample, peers, { folders, limit }) {
  const output = path.join(root, "out", "bench", "first", sample.name);
  const program = await build(sample, folders);
  const ours = await awaited(output, limit, program, {
    command: [fulcrum, "run", "--quiet", "--duration", `${limit}s`, "--output", output, "--"],
    answer: () => verdictOf(output, sample.point),
  });
  if (ours?.failure !== undefined) {
    throw new StepError(`${sample.name}: Fulcrum ended with ${ours.failure}.`);
  }
  const results = { fulcrum: ours };
  for (const peer of peers.filter(() => sample.targets.some(({ kind }) => kind === "line"))) {
    const profile = `${output}.${peer.key}`;
    results[peer.key] = await awaited(profile, limit, await build(sample, folders, { forCoz: true }), {
      command: [...peer.command, "run", "-o", profile, "---"],
      answer: (waited) => (isDrawn(profile, sample.point) ? { seconds: waited } : undefined),
    });
  }
  return results;
}

/** Runs the program until the profiler has an answer. */
async function awaited(output, limit, program, { command, answer }) {
  mkdirSync(path.dirname(output), { recursive: true });
  rmSync(output, { recursive: true, force: true });
  const start = invocation(program);
  const until = new AbortController();
  const began = Date.now();
  let found;
  const timer = setInterval(() => {
    found ??= answer((Date.now() - began) / 1000);
    if (found !== undefined) {
      until.abort();
    }
  }, look);
  let done;
  try {
    done = await runChild([...command, ...start.command], { cwd: start.cwd, limit: limit + 5, until: until.signal });
  } finally {
    clearInterval(timer);
  }
  found ??= answer((Date.now() - began) / 1000);
  if (found === undefined && !done.late && done.code !== 0) {
    return { failure: `${done.signal ?? `exit code ${done.code}`}: ${done.stderr.trim().split("\n").at(-1)}` };
  }
  return found !== undefined && found.seconds <= limit ? found : undefined;
}
