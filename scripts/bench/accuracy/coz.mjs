/**
 * What coz predicts. It gets what suits it best: DWARF 4, a run for each of the four speedups with the target's line
 * fixed, so that no experiment is spent elsewhere, and an end by itself, because it loses its last records otherwise.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { root, which } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { calibrate } from "../lib/measure.mjs";
import { buildSample, targetLocation } from "../lib/samples.mjs";
import { readPredictions } from "./profile.mjs";
import { levels } from "./truth.mjs";

/** @returns {Promise<Record<string, object>>} a target's predictions, or why there are none */
export async function measureCoz(sample, _program, budget) {
  const results = {};
  for (const target of sample.targets) {
    results[target.name] = await measureTarget(sample, target, budget.coz / sample.targets.length);
  }
  return results;
}

/** The last line of coz's log, without its colours and source position. */
function lastWords(log) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  const plain = log.replaceAll(/\x1b\[[\d;]*m/g, "").trim();
  const line = (plain.split("\n").at(-1) ?? "").replace(/^\[\S+:\d+\] /, "");
  return line === "" ? "" : `, “${line}”`;
}

async function measureTarget(sample, target, seconds) {
  if (which("coz") === undefined) {
    return { failure: "did not run: not installed" };
  }
  if (target.kind !== "line") {
    return { failure: "did not run: coz has lines only" };
  }
  const program = await buildSample(sample, { forCoz: true });
  const profile = path.join(root, "out", "bench", "coz", `${sample.name}-${target.name}.coz`);
  mkdirSync(path.dirname(profile), { recursive: true });
  rmSync(profile, { force: true });
  const all = [0, ...levels];
  const units = await calibrate(sample, program, seconds / all.length);
  for (const percent of all) {
    const line = target.fixed === false ? [] : ["--fixed-line", targetLocation(sample, target)];
    const options = ["-o", profile, ...line, "--fixed-speedup", String(percent)];
    const limit = (3 * seconds) / all.length + 5;
    const done = await runChild(["coz", "run", ...options, "---", program, String(units)], { limit });
    if (!done.late && done.code !== 0) {
      const how = done.signal ?? `exit code ${done.code}`;
      return { failure: `did not run: ${how}${lastWords(done.stderr)}` };
    }
  }
  if (!existsSync(profile) || !readFileSync(profile, "utf8").includes("experiment")) {
    return { failure: "did not run: no experiment in its profile" };
  }
  // As its own viewer does: no phase correction.
  return readPredictions(profile, sample, target, ["--no-phase-correction"]);
}
