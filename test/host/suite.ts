/** The host level: everything that can be checked from inside a real extension host. */
import { writeFileSync } from "node:fs";
import { runTests, type SuiteResult } from "./harness";

/** Test files by group. Each group runs in its own window and workspace, and ends at its first failure. */
const groups: Record<string, () => Promise<unknown>[]> = {
  causal: () => [
    import("./activation.test"),
    import("./openProfile.test"),
    import("./gutter.test"),
    import("./progressPoint.test"),
    import("./compare.test"),
    import("./runs.test"),
  ],
  navigator: () => [import("./navigator.test"), import("./trace.test")],
  running: () => [import("./run.test"), import("./live.test"), import("./engine.test")],
  untrusted: () => [import("./untrusted.test")],
};

export async function runSuite(group: string): Promise<SuiteResult> {
  const load = groups[group];
  if (load === undefined) {
    throw new Error(`There is no group ${group}.`);
  }
  await Promise.all(load());
  return runTests();
}

/** Desktop VS Code calls this (`extensionTestsPath`), for all groups in one trusted window. */
export async function run(): Promise<void> {
  for (const [name, load] of Object.entries(groups)) {
    if (name !== "untrusted") {
      await Promise.all(load());
    }
  }
  const result = await runTests();
  if (process.env.FULCRUM_HOST_RESULT) {
    writeFileSync(process.env.FULCRUM_HOST_RESULT, JSON.stringify(result));
  }
}
