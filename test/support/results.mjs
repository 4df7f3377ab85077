/** The end of every level: a line for people, a file for `npm test`. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./root.mjs";

/**
 * One test that ran.
 * @typedef {object} TestTime
 * @property {string} name
 * @property {number} ms wall time, in milliseconds
 * @property {number} [cpuMs] CPU time of the test and the programs that it ran, in milliseconds, where known
 * @property {boolean} ok
 */

/**
 * What a level writes to `out/test-results/<level>.json`.
 * @typedef {object} Results
 * @property {number} passed
 * @property {number} failed
 * @property {{ name: string, message: string }[]} failures
 * @property {TestTime[]} tests
 */

/**
 * Writes `out/test-results/<level>.json`.
 * @param {string} level
 * @param {number} passed
 * @param {{ name: string, message: string }[]} failures
 * @param {TestTime[]} tests
 */
export function saveResults(level, passed, failures, tests) {
  const folder = path.join(root, "out", "test-results");
  mkdirSync(folder, { recursive: true });
  /** @type {Results} */
  const results = { passed, failed: failures.length, failures, tests };
  writeFileSync(path.join(folder, `${level}.json`), `${JSON.stringify(results, null, 2)}\n`);
}

/**
 * Writes the file, prints the summary, and sets the exit code.
 * @param {string} level
 * @param {number} passed
 * @param {{ name: string, message: string }[]} failures
 * @param {TestTime[]} [tests] every test that ran, with its time
 */
export function writeResults(level, passed, failures, tests = []) {
  saveResults(level, passed, failures, tests);
  for (const failure of failures) {
    console.error(`FAILED ${failure.name}\n  ${failure.message.replaceAll("\n", "\n  ")}`);
  }
  console.log(`${level}: ${passed} passed, ${failures.length} failed`);
  process.exitCode = failures.length === 0 && passed > 0 ? 0 : 1;
}
