/**
 * `npm test [-- LEVEL… | host/GROUP… | ui/GROUP… | crate::module::test…]`: builds everything, then runs the levels, each to its
 * end, even if others fail. A word with `::` runs the engine's tests whose names contain it.
 * It ends with the slowest tests and what failed; the last line is `N passed, N failed`.
 */
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { saveResults } from "../test/support/results.mjs";
import { bootstrap } from "./bootstrap.mjs";
import { buildTests, listTests, readGroups, runDocTests, runTests } from "./lib/engineTests.mjs";
import { showStatus } from "./lib/status.mjs";
import { main, root, StepError, seconds, step, tryRun } from "./lib/steps.mjs";
import { packageExtension, unpackExtension } from "./package.mjs";

const node = process.execPath;

/** Every level writes out/test-results/<level>.json. Host and UI share an editor, so they run together. */
const levels = {
  engine: (words) => engineTests(words),
  unit: () =>
    reported(
      ["unit"],
      [
        path.join(root, "node_modules", "vitest", "vitest.mjs"),
        "run",
        "--config",
        path.join(root, "test", "unit", "vitest.config.mts"),
      ],
    ),
  editor: (words) => reported([...new Set(words.map(levelOf))], [path.join(root, "test", "editor.mjs"), ...words]),
  desktop: () => reported(["desktop"], [path.join(root, "test", "host", "desktop.mjs")]),
};
const names = ["engine", "unit", "host", "ui", "desktop"];
const standard = ["engine", "unit", "host", "ui"];
/** @param {string} word */
const levelOf = (word) => word.replace(/\/.*/, "");

/**
 * The engine's tests: all of them, or those whose names contain one of the filters.
 * @param {string[]} filters
 */
async function engineTests(filters) {
  const say = (line) => console.log(`tests: engine  ${line}`);
  const failures = [];
  let outcomes = [];
  try {
    const all = await step("tests of the engine", async (tell) => listTests(await buildTests(tell)));
    const groups = readGroups(all);
    const wanted = (test) => filters.length === 0 || filters.some((filter) => test.name.includes(filter));
    outcomes = await runTests(all.filter(wanted), groups, say, earlierTimes("engine"));
    if (filters.length === 0) {
      outcomes.push(...(await runDocTests()));
    }
  } catch (error) {
    // Tests that do not compile have failed too.
    if (!(error instanceof StepError)) {
      throw error;
    }
    failures.push({ name: "engine", message: error.message });
  }
  const bad = outcomes.filter((it) => !it.ok);
  failures.push(...bad.map(({ name, output }) => ({ name, message: output })));
  const tests = outcomes.map(({ name, ms, cpuMs, ok }) => ({ name, ms, cpuMs, ok }));
  saveResults("engine", outcomes.length - bad.length, failures, tests);
  const output = failures.map(({ name, message }) => `FAILED ${name}\n${message}`).join("\n\n");
  return [{ name: "engine", passed: outcomes.length - bad.length, failed: failures.length, output }];
}

/** How long a level's tests took in their last run. */
function earlierTimes(level) {
  return new Map(readResults(level)?.tests.map(({ name, ms }) => [name, ms]));
}

/**
 * @param {string[]} reporting the levels whose results the program writes
 * @param {string[]} args Node's arguments
 */
async function reported(reporting, args) {
  for (const level of reporting) {
    rmSync(resultsFile(level), { force: true });
  }
  // Tests use the packaged extension with its own engine, as users get them.
  const env = { FULCRUM_EXTENSION_DIR: extension, FULCRUM_ENGINE: path.join(extension, "bin", "fulcrum") };
  const status = showStatus(`tests: ${reporting.join(", ")}`);
  const { code, output } = await tryRun(node, args, { env });
  status.end();
  let clean = code === 0;
  const outcomes = reporting.map((name) => {
    const results = readResults(name);
    if (results === undefined) {
      clean = true;
      const said = `${output}\nThe ${name} level ended with exit code ${code} and no results.`;
      return { name, passed: 0, failed: 1, output: said };
    }
    clean ||= results.failed > 0;
    return { name, passed: results.passed, failed: results.failed, output };
  });
  // A program that fails without a failed test still counts as a failure.
  return clean ? outcomes : outcomes.map((it, n) => (n === 0 ? { ...it, failed: 1 } : it));
}

function resultsFile(level) {
  return path.join(root, "out", "test-results", `${level}.json`);
}

/** @returns {import("../test/support/results.mjs").Results | undefined} */
function readResults(level) {
  try {
    return JSON.parse(readFileSync(resultsFile(level), "utf8"));
  } catch {
    return undefined;
  }
}

/** Prints the slowest tests of all levels that ran. */
function printSlowest(levels) {
  const tests = levels.flatMap((level) => (readResults(level)?.tests ?? []).map((test) => ({ level, ...test })));
  const slowest = tests.sort((a, b) => b.ms - a.ms).slice(0, 20);
  console.log(`the slowest ${slowest.length} of ${tests.length} tests:`);
  for (const { level, name, ms } of slowest) {
    console.log(`${seconds(ms).padStart(9)}  ${level}: ${name}`);
  }
}

/** Repeats what failed in all levels that ran, in a few lines each: where a log is cut, its end remains. */
function printFailures(levels) {
  for (const level of levels) {
    for (const { name, message } of readResults(level)?.failures ?? []) {
      const lines = message.trim().split("\n");
      const left = lines.length > 8 ? [`… ${lines.length - 8} more lines above`] : [];
      console.log([`FAILED ${level}: ${name}`, ...lines.slice(0, 8), ...left].join("\n  "));
    }
  }
}

const extension = path.join(root, "out", "extension");

await main(import.meta.url, async () => {
  const filters = process.argv.slice(2).filter((word) => word.includes("::"));
  const named = process.argv.slice(2).filter((word) => !word.includes("::"));
  const unknown = named.filter((name) => !names.includes(levelOf(name)));
  if (unknown.length > 0) {
    throw new StepError(`There is no test level ${unknown.join(", ")}: choose among ${names.join(", ")}.`);
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
  const wanted = named.length > 0 ? named : filters.length > 0 ? ["engine"] : standard;
  const inEditor = wanted.filter((word) => ["host", "ui"].includes(levelOf(word)));
  const ran = [];
  for (const name of new Set(wanted.map((word) => (inEditor.includes(word) ? "editor" : word)))) {
    const start = Date.now();
    const outcomes = await levels[name](name === "editor" ? inEditor : filters);
    const time = seconds(Date.now() - start);
    const output = outcomes.find((it) => it.failed > 0)?.output;
    if (output !== undefined) {
      console.error(output.trimEnd());
    }
    for (const it of outcomes) {
      ran.push(it.name);
      console.log(`${`tests: ${it.name}`.padEnd(34)} ${time}  ${it.passed} passed, ${it.failed} failed`);
      passed += it.passed;
      failed += it.failed;
    }
  }
  printSlowest(ran);
  printFailures(ran);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
});
