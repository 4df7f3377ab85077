/**
 * What coz predicts, one of its versions. It gets what suits it best: DWARF 4, a run for each of the four speedups with the
 * target's line fixed, so that no experiment is spent elsewhere, and an end by itself, because it loses its last records
 * otherwise.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { root } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { calibrate, invocation } from "../lib/measure.mjs";
import { targetLocation } from "../lib/samples.mjs";
import { readPredictions } from "./profile.mjs";
import { levels } from "./truth.mjs";

/**
 * @param {import("./peers.mjs").Peer} peer
 * @param {() => Promise<any>} build the program as coz understands it
 * @returns {Promise<Record<string, object>>} a target's predictions, or why there are none
 */
export async function measureCoz(peer, sample, build, budget) {
  const results = {};
  for (const target of sample.targets) {
    results[target.name] =
      target.kind === "line"
        ? await measureTarget(peer, { sample, target, program: await build() }, budget.coz / sample.targets.length)
        : { failure: "did not run: coz has lines only" };
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

async function measureTarget(peer, { sample, target, program }, seconds) {
  const profile = path.join(root, "out", "bench", peer.key, `${sample.name}-${target.name}.coz`);
  mkdirSync(path.dirname(profile), { recursive: true });
  rmSync(profile, { force: true });
  const all = [0, ...levels];
  const units = await calibrate(sample, program, seconds / all.length);
  const { command, env, cwd } = invocation(program, units);
  for (const percent of all) {
    const line = target.fixed === false ? [] : ["--fixed-line", targetLocation(sample, target)];
    const options = ["-o", profile, ...line, "--fixed-speedup", String(percent)];
    const limit = (3 * seconds) / all.length + 5;
    const done = await runChild([...peer.command, "run", ...options, "---", ...command], { env, cwd, limit });
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
