import type { Reporter, TestModule } from "vitest/node";
import { writeResults } from "../results";

/** Prints `N passed, N failed` and leaves the numbers for the aggregator. */
export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message: string }[]): void {
    const failures: { name: string; message: string }[] = unhandled.map((error) => ({
      name: "outside of a test",
      message: error.message,
    }));
    let passed = 0;
    for (const module of modules) {
      for (const error of module.errors()) {
        failures.push({ name: module.relativeModuleId, message: error.message });
      }
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "passed") {
          passed += 1;
        } else {
          const message = result.errors?.[0]?.message ?? result.state;
          failures.push({ name: `${module.relativeModuleId}: ${test.fullName}`, message });
        }
      }
    }
    writeResults("unit", passed, failures);
  }
}
