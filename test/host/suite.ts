/** The host floor: everything that can be asked of the extension from inside the real extension host. */
import { writeFileSync } from "node:fs";
import { runTests, type SuiteResult } from "./harness";

export async function runSuite(): Promise<SuiteResult> {
  if (process.env.FULCRUM_HOST_UNTRUSTED) {
    await import("./untrusted.test");
  } else {
    await import("./activation.test");
    await import("./openProfile.test");
    await import("./gutter.test");
    await import("./progressPoint.test");
    await import("./run.test");
    await import("./live.test");
    await import("./compare.test");
    await import("./runs.test");
    await import("./navigator.test");
    await import("./trace.test");
    await import("./engine.test");
  }
  return runTests();
}

/** Desktop VS Code calls this (`extensionTestsPath`); the driver extension calls `runSuite` itself. */
export async function run(): Promise<void> {
  const result = await runSuite();
  if (process.env.FULCRUM_HOST_RESULT) {
    writeFileSync(process.env.FULCRUM_HOST_RESULT, JSON.stringify(result));
  }
}
