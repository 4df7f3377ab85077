/** A target's predictions, read from `fulcrum causal show --json`. */
import path from "node:path";
import { root, tryRun } from "../../lib/steps.mjs";
import { targetLocation } from "../lib/samples.mjs";
import { levels } from "./truth.mjs";

export const fulcrum = path.join(root, "bin", "fulcrum");

/**
 * @returns {Promise<{ failure: string, detail: string } | { experiments: number, levels: Record<string, Prediction> }>}
 * @typedef {{ value: number, low: number | null, high: number | null }} Prediction fractions
 */
export async function readPredictions(profile, sample, target, options = []) {
  const args = ["causal", "show", profile, "--json", "--min-points", "1", ...options];
  const { code, stdout, output } = await tryRun(fulcrum, args);
  // 1: the profile is sound and empty; its notes say why.
  if (code !== 0 && stdout === "") {
    return { failure: "no profile", detail: output.trim() };
  }
  const shown = JSON.parse(stdout);
  const point = shown.progressPoints.find(({ name }) => name === sample.point);
  if (point === undefined) {
    return { failure: "no visited experiment", detail: shown.notes.join(" ") };
  }
  const location = targetLocation(sample, target);
  const found = point.targets.find((candidate) => isTarget(candidate, target, location));
  if (found === undefined) {
    const there = point.targets.map(describe).join("; ") || "none";
    return { failure: "no experiment", detail: `There are: ${there}. ${shown.notes.join(" ")}` };
  }
  const predictions = [...levels, 100].flatMap((percent) => {
    const at = found.points.find(({ speedup }) => Math.abs(speedup - percent / 100) < 1e-6);
    return at === undefined ? [] : [[percent, { value: at.programSpeedup, low: at.low, high: at.high }]];
  });
  const { experiments, contention } = found;
  return { experiments, contention, levels: Object.fromEntries(predictions), notes: shown.notes };
}

/** Whether a target of a profile is the one that the sample means. */
export function isTarget(candidate, target, location) {
  const named = (name) => candidate.name === name || candidate.name?.startsWith(`${name}(`);
  const steps = (text) => text.split(" > ").map((step) => step.replace(/\(.*\)$/, ""));
  switch (target.kind) {
    case "line":
      return candidate.kind === "line" && candidate.location === location;
    case "function":
      return candidate.kind === "function" && candidate.inclusive !== true && named(target.function);
    case "inclusive":
      return candidate.kind === "function" && candidate.inclusive === true && named(target.function);
    case "path":
      return candidate.kind === "path" && steps(candidate.name).join(" > ") === target.path;
    case "blocked":
      return candidate.kind === "blocked" && candidate.location === location;
    default:
      return false;
  }
}

function describe(candidate) {
  return candidate.name === undefined ? candidate.location : `${candidate.kind} ${candidate.name}`;
}
