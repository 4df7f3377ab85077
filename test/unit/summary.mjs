import { writeResults } from "../support/results.mjs";

/** A vitest reporter with the same summary as the other levels. */
export default class Summary {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly { message: string }[]} unhandled
   */
  onTestRunEnd(modules, unhandled) {
    const failures = unhandled.map((error) => ({ name: "outside of a test", message: error.message }));
    const tests = [];
    let passed = 0;
    for (const module of modules) {
      failures.push(...module.errors().map((error) => ({ name: module.relativeModuleId, message: error.message })));
      for (const test of module.children.allTests()) {
        const result = test.result();
        const ok = result.state === "passed";
        const ms = Math.round(test.diagnostic()?.duration ?? 0);
        tests.push({ name: `${module.relativeModuleId}: ${test.fullName}`, ms, ok });
        if (ok) {
          passed += 1;
        } else {
          const message = result.errors?.[0]?.message ?? result.state;
          failures.push({ name: `${module.relativeModuleId}: ${test.fullName}`, message });
        }
      }
    }
    writeResults("unit", passed, failures, tests);
  }
}
