import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * The unit level: `extension/core`, a panel with a stand-in for the editor, and the benchmarks' arithmetic. No test here needs
 * an editor or an engine.
 */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // The limit is for tests that hang, not for slow machines.
  test: { include: ["*.test.ts"], reporters: ["default", "./summary.mjs"], testTimeout: 120_000 },
});
