/** What really happens: the sample with its work reduced, in interleaved runs, so that all meet the same noise. */
import { StepError } from "../../lib/steps.mjs";
import { calibrate, cost, runUnits } from "../lib/measure.mjs";
import { speedup } from "../lib/statistics.mjs";

export const levels = [25, 50, 75];

/** @returns {{ name: string, env: Record<string, string> }[]} the unchanged program first */
export function configurations(sample) {
  const reduced = sample.targets.flatMap((target) =>
    levels.map((percent) => ({
      name: `${target.name}:${percent}`,
      env: { SAMPLE_REDUCE: `${target.name}:${percent}` },
    })),
  );
  const fixed = sample.fix === undefined ? [] : [{ name: "fix", env: { SAMPLE_FIX: "1" } }];
  return [{ name: "full", env: {} }, ...reduced, ...fixed];
}

/** Half of an interval from which on rounds are added, and how many times the budget that may take. */
const precise = 0.007;
export const patience = 1.3;

/**
 * @returns {Promise<{ units: number, costs: Record<string, number[]> }>} seconds a unit (or of latency), a value a round
 */
export async function measureTruth(sample, program, budget) {
  const all = configurations(sample);
  const wanted = budget.truth / (all.length * budget.rounds);
  const units = await calibrate(sample, program, wanted);
  const { seconds } = await runUnits(program, units);
  // A sample whose round takes long gets fewer runs, but a median needs three.
  const rounds = Math.max(
    Math.min(3, budget.rounds),
    Math.min(budget.rounds, Math.round((budget.rounds * wanted) / seconds)),
  );
  const runs = Object.fromEntries(all.map(({ name }) => [name, []]));
  const started = Date.now();
  const vague = () =>
    (Date.now() - started) / 1000 < patience * budget.truth && widest(runs, sample) > precise && budget.rounds > 2;
  for (let round = 0; round < rounds || vague(); round += 1) {
    // Another order each round: nobody always runs after the same neighbour.
    const order = [...all.slice(round % all.length), ...all.slice(0, round % all.length)];
    for (const { name, env } of order) {
      runs[name].push(await runUnits(program, units, { env }));
    }
  }
  for (const [name, reports] of Object.entries(runs)) {
    if (new Set(reports.map((report) => report.result)).size > 1) {
      throw new StepError(`${sample.name} (${name}) does not give the same result twice: it is no sample.`);
    }
  }
  const costs = Object.entries(runs).map(([name, reports]) => [name, reports.map((report) => cost(sample, report))]);
  return { units, costs: Object.fromEntries(costs) };
}

/** Half of the widest interval so far. */
function widest(runs, sample) {
  const costs = Object.values(runs).map((reports) => reports.map((report) => cost(sample, report)));
  return Math.max(...costs.map((after) => speedup(costs[0], after).spread));
}
