/**
 * `npm test [-- FLOOR…]`: builds everything, then runs the floors, each to its end whatever happened on the others.
 * The last line is `N passed, N failed`.
 */
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { bootstrap } from "./bootstrap.mjs";
import { engine, main, root, StepError, seconds, tryRun } from "./lib/steps.mjs";
import { packageExtension, unpackExtension } from "./package.mjs";

const node = process.execPath;

/** Every floor but the engine's writes out/test-results/<floor>.json. */
const floors = {
  engine: () => cargoTest(),
  unit: () =>
    reported("unit", [
      path.join(root, "node_modules", "vitest", "vitest.mjs"),
      "run",
      "--config",
      path.join(root, "test", "unit", "vitest.config.mts"),
    ]),
  host: () => reported("host", [path.join(root, "test", "host", "run.mjs")]),
  ui: () => reported("ui", [path.join(root, "test", "ui", "run.mjs")]),
  desktop: () => reported("desktop", [path.join(root, "test", "host", "desktop.mjs")]),
};
const standard = ["engine", "unit", "host", "ui"];

async function cargoTest() {
  const { code, output } = await tryRun("cargo", ["test", "--workspace", "--release", "--no-fail-fast", "--quiet"], {
    cwd: engine,
  });
  let passed = 0;
  let failed = 0;
  for (const [, good, bad] of output.matchAll(/^test result: .*? (\d+) passed; (\d+) failed/gm)) {
    passed += Number(good);
    failed += Number(bad);
  }
  // A test that does not compile, or crashes, has no result line of its own.
  if (code !== 0 && failed === 0) {
    failed = 1;
  }
  return { passed, failed, output: withoutSuccesses(output) };
}

/** Of a long log, what there is to read when something failed. */
function withoutSuccesses(output) {
  const quiet = /^(running \d+ tests?|[.\s]*|\.* \d+\/\d+|test result: ok\..*)$/;
  return output
    .split("\n")
    .filter((line) => !quiet.test(line))
    .join("\n");
}

async function reported(floor, args) {
  const file = path.join(root, "out", "test-results", `${floor}.json`);
  rmSync(file, { force: true });
  // Tests take the packaged extension with its own engine, as a user gets them.
  const env = { FULCRUM_EXTENSION_DIR: extension, FULCRUM_ENGINE: path.join(extension, "bin", "fulcrum") };
  const { code, output } = await tryRun(node, args, { env });
  try {
    const { passed, failed } = JSON.parse(readFileSync(file, "utf8"));
    return { passed, failed: code !== 0 && failed === 0 ? 1 : failed, output };
  } catch {
    return {
      passed: 0,
      failed: 1,
      output: `${output}\nThe ${floor} floor ended with exit code ${code} and no results.`,
    };
  }
}

const extension = path.join(root, "out", "extension");

await main(import.meta.url, async () => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in floors));
  if (unknown.length > 0) {
    throw new StepError(
      `There is no test floor ${unknown.join(", ")}: choose among ${Object.keys(floors).join(", ")}.`,
    );
  }
  let passed = 0;
  let failed = 0;
  try {
    await bootstrap({ tests: true });
    await packageExtension();
    unpackExtension(extension);
  } catch (error) {
    console.error(error instanceof StepError ? error.message : error);
    console.log("0 passed, 1 failed");
    process.exitCode = 1;
    return;
  }
  for (const name of wanted.length > 0 ? wanted : standard) {
    const start = Date.now();
    const result = await floors[name]();
    if (result.failed > 0) {
      console.error(result.output.trimEnd());
    }
    const counts = `${result.passed} passed, ${result.failed} failed`;
    console.log(`${`tests: ${name}`.padEnd(34)} ${seconds(Date.now() - start)}  ${counts}`);
    passed += result.passed;
    failed += result.failed;
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
});
