/** Runs of a sample with a given number of units, timed by the sample's own clock. */
import { StepError } from "../../lib/steps.mjs";
import { runChild } from "./children.mjs";

/** What a sample prints at its end. `latency`, in seconds, only if it measures one. */
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
 * How to start a program that works for the given number of units, or until it is stopped. Other people's programs get the
 * number from the environment.
 * @param {string | import("../others/build.mjs").Command} program
 * @param {number} [units]
 * @returns {{ command: string[], env: Record<string, string>, cwd?: string }}
 */
export function invocation(program, units) {
  const number = units === undefined ? [] : [String(units)];
  if (typeof program === "string") {
    return { command: [program, ...number], env: {} };
  }
  const { file, args, folder, skip = 0 } = program;
  const counted = Object.fromEntries(number.map((it) => ["SAMPLE_UNITS", it]));
  return { command: [file, ...args], env: { ...counted, SAMPLE_SKIP: `${skip}` }, cwd: folder };
}

/**
 * Runs a sample, optionally under a profiler.
 * @param {string | import("../others/build.mjs").Command} program
 * @param {number} units
 * @param {{ under?: string[], env?: Record<string, string>, limit?: number, cwd?: string }} [options]
 */
export async function runUnits(program, units, { under = [], ...options } = {}) {
  const start = invocation(program, units);
  const command = [...under, ...start.command];
  const done = await runChild(command, { cwd: start.cwd, ...options, env: { ...start.env, ...options.env } });
  const report = parseReport(done.stdout) ?? parseReport(done.stderr);
  if (report === undefined || done.code !== 0) {
    const how = done.late ? "took too long" : `ended with ${done.signal ?? `exit code ${done.code}`}`;
    throw new StepError(`${done.stderr.trimEnd()}\n\`${command.join(" ")}\` ${how} and reported nothing.`);
  }
  return report;
}

/** How many units take about this many seconds, in whole rounds of the sample, at least one. */
export async function calibrate(sample, program, seconds, options) {
  const { units, seconds: took } = await runUnits(program, Math.max(sample.round, sample.units), options);
  return unitsFor(sample, (units / took) * seconds);
}

function unitsFor(sample, units) {
  return Math.max(1, Math.round(units / sample.round)) * sample.round;
}

/** The cost that an optimisation reduces: the latency, or the time per unit. Seconds. */
export function cost(sample, report) {
  return sample.measure === "latency" ? report.latency : report.seconds / report.units;
}
