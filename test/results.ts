/** Every floor ends the same way: a line for people, a file for the aggregator. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

export interface Failure {
  name: string;
  message: string;
}

const root = path.resolve(__dirname, "..");

/** Writes `out/test-results/<floor>.json` and prints the summary. */
export function writeResults(floor: string, passed: number, failures: readonly Failure[]): void {
  const folder = path.join(process.env.FULCRUM_TEST_ROOT ?? root, "out", "test-results");
  mkdirSync(folder, { recursive: true });
  const results = { passed, failed: failures.length, failures };
  writeFileSync(path.join(folder, `${floor}.json`), `${JSON.stringify(results, null, 2)}\n`);
  for (const failure of failures) {
    console.error(`FAILED ${failure.name}\n  ${failure.message.replaceAll("\n", "\n  ")}`);
  }
  console.log(`${floor}: ${passed} passed, ${failures.length} failed`);
}
