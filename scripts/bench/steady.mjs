/**
 * `npm run bench -- steady [--rounds N] [--resume] [engine] [host] [ui]`: runs the part of the suite that depends on time
 * repeatedly (20 rounds by default), beside two busy loops, and counts every result that is not a pass. A test that fails once
 * in twenty rounds is broken.
 *
 * For the engine, these are the tests in `alone` and `timing` of engine/test-groups.json; for the UI level, the groups in which
 * programs run; and the whole host level. In a round, the engine's tests and the editor's run at the same time. Nothing is built
 * between rounds. --resume continues after the rounds for this commit in the journal, out/bench/steady.jsonl.
 */
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { bootstrap } from "../bootstrap.mjs";
import { buildTests, listTests, readGroups, runTests } from "../lib/engineTests.mjs";
import { root, StepError, seconds, step, tryRun } from "../lib/steps.mjs";
import { packageExtension, unpackExtension } from "../package.mjs";
import { runChild } from "./lib/children.mjs";
import { Journal } from "./lib/journal.mjs";

/** Groups of the UI level in which programs run. */
const uiGroups = ["ui/first", "ui/live", "ui/trace", "ui/runs"];

/** The time limit of a round in the editor, in seconds. */
const limitSeconds = 1200;

const usage = "usage: npm run bench -- steady [--rounds N] [--resume] [engine] [host] [ui].";

export async function bench(args) {
  const { rounds, resume, levels } = options(args);
  const run = await prepared(levels);
  const commit = (await tryRun("git", ["rev-parse", "HEAD"])).stdout.trim();
  const journal = new Journal("steady");
  const busy = [0, 1].map(() => new Worker("for (;;);", { eval: true }));
  /** @type {Map<string, { passed: number, failed: number[] }>} */
  const counts = new Map();
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const start = Date.now();
      const left = levels.filter((level) => !resume || journal.get(`${level} ${round}`)?.commit !== commit);
      for (const [level, outcomes] of await run(left)) {
        journal.put(`${level} ${round}`, { commit, tests: outcomes.map(({ name, ok }) => ({ name, ok })) });
      }
      for (const level of levels) {
        const { tests } = journal.get(`${level} ${round}`);
        count(counts, level, round, tests);
        const bad = tests.filter(({ ok }) => !ok).length;
        const time = left.includes(level) ? `, the round took ${seconds(Date.now() - start)}` : "";
        console.log(`round ${round}, ${level}: ${tests.length} tests, ${bad} failed${time}`);
      }
    }
  } finally {
    await Promise.all(busy.map((worker) => worker.terminate()));
  }
  report(counts, rounds);
}

function options(args) {
  const levels = [];
  let rounds = 20;
  let resume = false;
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === "--rounds") {
      at += 1;
      rounds = Number(args[at]);
    } else if (args[at] === "--resume") {
      resume = true;
    } else {
      levels.push(args[at]);
    }
  }
  const known = ["engine", "host", "ui"];
  if (!Number.isInteger(rounds) || rounds < 1 || levels.some((name) => !known.includes(name))) {
    throw new StepError(usage);
  }
  return { rounds, resume, levels: levels.length > 0 ? levels : known };
}

/** Builds what the levels need, and returns a function that runs a round of some of them. */
async function prepared(levels) {
  const extension = path.join(root, "out", "extension");
  if (levels.some((name) => name !== "engine")) {
    await bootstrap({ tests: true });
    await packageExtension();
    unpackExtension(extension);
  }
  const env = { FULCRUM_EXTENSION_DIR: extension, FULCRUM_ENGINE: path.join(extension, "bin", "fulcrum") };
  const engine = levels.includes("engine") ? await engineRound() : undefined;
  /** @param {string[]} left */
  return async (left) => {
    const inEditor = left.filter((level) => level !== "engine");
    const results = await Promise.all([
      left.includes("engine") && engine ? engine().then((tests) => [["engine", tests]]) : [],
      inEditor.length > 0 ? editorRound(inEditor, env) : [],
    ]);
    return results.flat();
  };
}

async function engineRound() {
  const all = await step("tests of the engine", async (say) => listTests(await buildTests(say)));
  const groups = readGroups(all);
  const tests = all.filter((test) => groups.timing(test));
  return async () => {
    const outcomes = await runTests(tests, groups, (line) => console.log(`  ${line}`));
    for (const { name, output } of outcomes.filter(({ ok }) => !ok)) {
      console.error(`FAILED ${name}\n${output}`);
    }
    return outcomes;
  };
}

/** A round of the levels that need an editor, in one process. */
async function editorRound(levels, env) {
  const file = (level) => path.join(root, "out", "test-results", `${level}.json`);
  for (const level of levels) {
    rmSync(file(level), { force: true });
  }
  const words = levels.flatMap((level) => (level === "ui" ? uiGroups : [level]));
  const command = [process.execPath, path.join(root, "test", "editor.mjs"), ...words];
  const { stdout, stderr, late } = await runChild(command, { cwd: root, env, limit: limitSeconds });
  return levels.map((level) => {
    try {
      const { tests, failures } = JSON.parse(readFileSync(file(level), "utf8"));
      for (const { name, message } of failures) {
        console.error(`FAILED ${name}\n${message}`);
      }
      // Failures outside of a test count too.
      const outside = failures.filter(({ name }) => !tests.some((test) => test.name === name));
      return [level, [...tests, ...outside.map(({ name }) => ({ name, ok: false }))]];
    } catch {
      console.error(`${stdout}${stderr}\nThe ${level} level ${late ? "took too long" : "wrote no results"}.`);
      return [level, [{ name: "the whole level", ok: false }]];
    }
  });
}

function count(counts, level, round, tests) {
  for (const { name, ok } of tests) {
    const key = `${level}: ${name}`;
    const entry = counts.get(key) ?? { passed: 0, failed: [] };
    counts.set(key, entry);
    if (ok) {
      entry.passed += 1;
    } else {
      entry.failed.push(round);
    }
  }
}

function report(counts, rounds) {
  const unsteady = [...counts].filter(([, { failed }]) => failed.length > 0);
  for (const [name, { passed, failed }] of unsteady) {
    console.log(`${String(passed).padStart(4)} passed, failed in round ${failed.join(", ")}  ${name}`);
  }
  // A test that a round left out, because its group had ended, is not a pass either.
  const missing = [...counts].filter(([, { passed, failed }]) => passed + failed.length < rounds);
  for (const [name, { passed, failed }] of missing) {
    console.log(`${String(passed + failed.length).padStart(4)} of ${rounds} rounds ran  ${name}`);
  }
  const results = [...counts.values()].reduce((sum, it) => sum + it.passed + it.failed.length, 0);
  const other = unsteady.reduce((sum, [, { failed }]) => sum + failed.length, 0);
  console.log(`${counts.size} tests, ${rounds} rounds, ${results} results, ${other} of them not a pass`);
  if (unsteady.length > 0 || missing.length > 0) {
    throw new StepError("The suite is not steady.");
  }
}
