/** Loads the suite in the extension host and writes its result: the host's exit code says nothing. */
import { renameSync, writeFileSync } from "node:fs";
import type { SuiteResult } from "../harness";

export async function activate(): Promise<void> {
  const suite = process.env.FULCRUM_HOST_SUITE;
  const output = process.env.FULCRUM_HOST_RESULT;
  if (!suite || !output) {
    return;
  }
  const result = await load(suite);
  writeFileSync(`${output}.tmp`, JSON.stringify(result));
  renameSync(`${output}.tmp`, output);
}

async function load(suite: string): Promise<SuiteResult> {
  try {
    const { runSuite } = require(suite) as { runSuite: () => Promise<SuiteResult> };
    return await runSuite();
  } catch (error) {
    return { passed: 0, failures: [{ name: "loading the suite", message: String(error) }] };
  }
}
