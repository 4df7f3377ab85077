/** What a run has reported so far: Fulcrum's first verdict, or a coz profile that can be plotted. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** @returns {{ seconds: number, atLeast: number, target: string } | undefined} */
export function verdictOf(folder, point) {
  const file = path.join(folder, "run.json");
  if (!existsSync(file)) {
    return undefined;
  }
  const { firstVerdict } = JSON.parse(readFileSync(file, "utf8"));
  return firstVerdict?.progressPoint === point ? firstVerdict : undefined;
}

/** COZ plots no line with fewer speedups than this, or without a baseline. */
const fewest = 5;

/** Whether a coz profile has such a line. */
export function isDrawn(file, point) {
  return existsSync(file) && hasCurve(readFileSync(file, "utf8"), point);
}

/** @param {string} text a profile in either of coz's formats */
export function hasCurve(text, point) {
  const speedups = new Map();
  let experiment;
  // The last line may be incomplete.
  for (const line of text.split("\n").slice(0, -1)) {
    const record = line.startsWith("{") ? JSON.parse(line) : fields(line);
    if (record.type === "experiment") {
      experiment = record;
    } else if (record.type === "throughput-point" || record.type === "latency-point") {
      const visits = Number(record.delta ?? record.departures);
      if (record.name === point && visits > 0 && experiment !== undefined) {
        const known = speedups.get(experiment.selected) ?? new Set();
        speedups.set(experiment.selected, known.add(Number(experiment.speedup)));
      }
    }
  }
  return [...speedups.values()].some((known) => known.has(0) && known.size >= fewest);
}

/** A line of coz's text format: its type, and `name=value` fields. */
function fields(line) {
  const [type, ...pairs] = line.split("\t");
  return { type, ...Object.fromEntries(pairs.map((pair) => [pair.split("=")[0], pair.slice(pair.indexOf("=") + 1)])) };
}
