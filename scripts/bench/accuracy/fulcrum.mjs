/** What Fulcrum predicts: one run a target, which serves all speedups. The run folders stay in out/bench/runs. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { root, StepError } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { invocation } from "../lib/measure.mjs";
import { targetLocation } from "../lib/samples.mjs";
import { placebosOf } from "./placebo.mjs";
import { fulcrum, readPredictions } from "./profile.mjs";

export async function measureFulcrum(sample, program, budget) {
  const seconds = budget.fulcrum / sample.targets.length;
  const results = {};
  const { command, cwd } = invocation(program);
  for (const target of sample.targets) {
    const folder = runOf(sample, target);
    mkdirSync(path.dirname(folder), { recursive: true });
    rmSync(folder, { recursive: true, force: true });
    const args = ["run", "--quiet", "--duration", `${seconds}s`, "--output", folder, ...choose(sample, target)];
    const start = Date.now();
    const done = await runChild([fulcrum, ...args, "--", ...command], { cwd, limit: seconds + 30 });
    if (done.code !== 0) {
      throw new StepError(
        `${done.stderr.trimEnd()}\n\`fulcrum ${args.join(" ")}\` failed with exit code ${done.code}.`,
      );
    }
    const wall = (Date.now() - start) / 1000;
    const placebo = placebosOf(folder, sample.point);
    results[target.name] = { seconds: wall, placebo, ...(await readPredictions(folder, sample, target)) };
  }
  return results;
}

function runOf(sample, target) {
  return path.join(root, "out", "bench", "runs", `${sample.name}-${target.name}`);
}

/** What today's analysis says of runs that were recorded before, where they are still there. */
export async function reread(sample, results) {
  const read = { ...results };
  for (const target of sample.targets) {
    const folder = runOf(sample, target);
    if (read[target.name] !== undefined && existsSync(folder)) {
      const placebo = placebosOf(folder, sample.point);
      read[target.name] = { ...read[target.name], placebo, ...(await readPredictions(folder, sample, target)) };
    }
  }
  return read;
}

/** The options that make experiments about this target: its kind, and its place unless experiments are to choose. */
export function choose(sample, target) {
  if (target.kind === "path") {
    return ["--target", `path:${target.path}`];
  }
  const place = target.fixed === false ? [] : ["--fixed-line", targetLocation(sample, target)];
  return ["--target", target.kind, ...place];
}
