/** Every floor ends the same way: a line for people, a file for the aggregator. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./root.mjs";

/**
 * One test that ran.
 * @typedef {object} TestTime
 * @property {string} name
 * @property {number} ms wall time, in milliseconds
 * @property {number} [cpuMs] processor time of the test and the programs that it ran, in milliseconds, where it is known
 * @property {boolean} ok
 */

/**
 * What a floor writes to `out/test-results/<floor>.json`.
 * @typedef {object} Results
 * @property {number} passed
 * @property {number} failed
 * @property {{ name: string, message: string }[]} failures
 * @property {TestTime[]} tests
 */

/**
 * Writes `out/test-results/<floor>.json`.
 * @param {string} floor
 * @param {number} passed
 * @param {{ name: string, message: string }[]} failures
 * @param {TestTime[]} tests
 */
export function saveResults(floor, passed, failures, tests) {
  const folder = path.join(root, "out", "test-results");
  mkdirSync(folder, { recursive: true });
  /** @type {Results} */
  const results = { passed, failed: failures.length, failures, tests };
  writeFileSync(path.join(folder, `${floor}.json`), `${JSON.stringify(results, null, 2)}\n`);
}

/**
 * Writes the file, prints the summary, and sets the exit code.
 * @param {string} floor
 * @param {number} passed
 * @param {{ name: string, message: string }[]} failures
 * @param {TestTime[]} [tests] every test that ran, with its time
 */
export function writeResults(floor, passed, failures, tests = []) {
  saveResults(floor, passed, failures, tests);
  for (const failure of failures) {
    console.error(`FAILED ${failure.name}\n  ${failure.message.replaceAll("\n", "\n  ")}`);
  }
  console.log(`${floor}: ${passed} passed, ${failures.length} failed`);
  process.exitCode = failures.length === 0 && passed > 0 ? 0 : 1;
}
