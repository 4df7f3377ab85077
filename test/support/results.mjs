/** The same ending for every floor: a line for people, a file for the aggregator. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./root.mjs";

/**
 * Writes `out/test-results/<floor>.json`, prints the summary, and sets the exit code.
 * @param {string} floor
 * @param {number} passed
 * @param {{ name: string, message: string }[]} failures
 */
export function writeResults(floor, passed, failures) {
  const folder = path.join(root, "out", "test-results");
  mkdirSync(folder, { recursive: true });
  const results = { passed, failed: failures.length, failures };
  writeFileSync(path.join(folder, `${floor}.json`), `${JSON.stringify(results, null, 2)}\n`);
  for (const failure of failures) {
    console.error(`FAILED ${failure.name}\n  ${failure.message.replaceAll("\n", "\n  ")}`);
  }
  console.log(`${floor}: ${passed} passed, ${failures.length} failed`);
  process.exitCode = failures.length === 0 && passed > 0 ? 0 : 1;
}
