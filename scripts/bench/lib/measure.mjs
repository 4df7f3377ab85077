/** Runs of a sample: so many units, and how long each took by the sample's own clock. */
import { StepError } from "../../lib/steps.mjs";
import { runChild } from "./children.mjs";

/** What a sample prints at its end. `latency` only where it measures one, in seconds. */
export function parseReport(stdout) {
  const found =
    /^(?:latency=(?<latency>\S+) )?units=(?<units>\d+) seconds=(?<seconds>\S+) result=(?<result>\S+)$/m.exec(
      stdout,
    )?.groups;
  return found === undefined
    ? undefined
    : {
        units: Number(found.units),
        seconds: Number(found.seconds),
        result: found.result,
        latency: found.latency === undefined ? undefined : Number(found.latency),
      };
}

/**
 * Runs a sample, perhaps under a profiler.
 * @param {string} program
 * @param {number} units
 * @param {{ under?: string[], env?: Record<string, string>, limit?: number, cwd?: string }} [options]
 */
export async function runUnits(program, units, { under = [], ...options } = {}) {
  const command = [...under, program, String(units)];
  const done = await runChild(command, options);
  const report = parseReport(done.stdout);
  if (report === undefined || done.code !== 0) {
    const how = done.late ? "took too long" : `ended with ${done.signal ?? `exit code ${done.code}`}`;
    throw new StepError(`${done.stderr.trimEnd()}\n\`${command.join(" ")}\` ${how} and reported nothing.`);
  }
  return report;
}

/** How many units take about so many seconds, as whole rounds of the sample's; at least one. */
export async function calibrate(sample, program, seconds, options) {
  const { units, seconds: took } = await runUnits(program, Math.max(sample.round, sample.units), options);
  return unitsFor(sample, (units / took) * seconds);
}

function unitsFor(sample, units) {
  return Math.max(1, Math.round(units / sample.round)) * sample.round;
}

/** What an optimisation shortens: the latency, or the time per unit. Seconds. */
export function cost(sample, report) {
  return sample.measure === "latency" ? report.latency : report.seconds / report.units;
}
