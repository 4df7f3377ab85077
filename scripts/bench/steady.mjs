/**
 * `npm run bench -- steady [--rounds N] [--resume] [engine] [host] [ui]`: runs the part of the suite that depends on time
 * again and again (20 rounds unless told), beside two busy loops, and counts every result that is not a pass. A test that
 * fails once in twenty rounds is broken.
 *
 * Of the engine, that are the tests in `alone` and `timing` of engine/test-groups.json; of the UI floor, the groups in which
 * programs run; the host floor runs whole. Within a round the engine's tests and the editor's run at the same time. Nothing
 * is built between rounds. --resume goes on after the rounds that are in the ledger, out/bench/steady.jsonl, for this commit.
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

/** Groups of the UI floor in which programs run. */
const uiGroups = ["ui/first", "ui/live", "ui/trace", "ui/runs"];

/** For a round in the editor, in seconds. */
const limitSeconds = 1200;

const usage = "usage: npm run bench -- steady [--rounds N] [--resume] [engine] [host] [ui].";

export async function bench(args) {
  const { rounds, resume, floors } = options(args);
  const run = await prepared(floors);
  const commit = (await tryRun("git", ["rev-parse", "HEAD"])).stdout.trim();
  const journal = new Journal("steady");
  const busy = [0, 1].map(() => new Worker("for (;;);", { eval: true }));
  /** @type {Map<string, { passed: number, failed: number[] }>} */
  const counts = new Map();
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const start = Date.now();
      const left = floors.filter((floor) => !resume || journal.get(`${floor} ${round}`)?.commit !== commit);
      for (const [floor, outcomes] of await run(left)) {
        journal.put(`${floor} ${round}`, { commit, tests: outcomes.map(({ name, ok }) => ({ name, ok })) });
      }
      for (const floor of floors) {
        const { tests } = journal.get(`${floor} ${round}`);
        count(counts, floor, round, tests);
        const bad = tests.filter(({ ok }) => !ok).length;
        const time = left.includes(floor) ? `, the round took ${seconds(Date.now() - start)}` : "";
        console.log(`round ${round}, ${floor}: ${tests.length} tests, ${bad} failed${time}`);
      }
    }
  } finally {
    await Promise.all(busy.map((worker) => worker.terminate()));
  }
  report(counts, rounds);
}

function options(args) {
  const floors = [];
  let rounds = 20;
  let resume = false;
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === "--rounds") {
      at += 1;
      rounds = Number(args[at]);
    } else if (args[at] === "--resume") {
      resume = true;
    } else {
      floors.push(args[at]);
    }
  }
  const known = ["engine", "host", "ui"];
  if (!Number.isInteger(rounds) || rounds < 1 || floors.some((name) => !known.includes(name))) {
    throw new StepError(usage);
  }
  return { rounds, resume, floors: floors.length > 0 ? floors : known };
}

/** Builds what the floors need, and gives what runs a round of some of them. */
async function prepared(floors) {
  const extension = path.join(root, "out", "extension");
  if (floors.some((name) => name !== "engine")) {
    await bootstrap({ tests: true });
    await packageExtension();
    unpackExtension(extension);
  }
  const env = { FULCRUM_EXTENSION_DIR: extension, FULCRUM_ENGINE: path.join(extension, "bin", "fulcrum") };
  const engine = floors.includes("engine") ? await engineRound() : undefined;
  /** @param {string[]} left */
  return async (left) => {
    const inEditor = left.filter((floor) => floor !== "engine");
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

/** A round of the floors that need an editor, all in one. */
async function editorRound(floors, env) {
  const file = (floor) => path.join(root, "out", "test-results", `${floor}.json`);
  for (const floor of floors) {
    rmSync(file(floor), { force: true });
  }
  const words = floors.flatMap((floor) => (floor === "ui" ? uiGroups : [floor]));
  const command = [process.execPath, path.join(root, "test", "editor.mjs"), ...words];
  const { stdout, stderr, late } = await runChild(command, { cwd: root, env, limit: limitSeconds });
  return floors.map((floor) => {
    try {
      const { tests, failures } = JSON.parse(readFileSync(file(floor), "utf8"));
      for (const { name, message } of failures) {
        console.error(`FAILED ${name}\n${message}`);
      }
      // What failed outside of a test counts too.
      const outside = failures.filter(({ name }) => !tests.some((test) => test.name === name));
      return [floor, [...tests, ...outside.map(({ name }) => ({ name, ok: false }))]];
    } catch {
      console.error(`${stdout}${stderr}\nThe ${floor} floor ${late ? "took too long" : "wrote no results"}.`);
      return [floor, [{ name: "the whole floor", ok: false }]];
    }
  });
}

function count(counts, floor, round, tests) {
  for (const { name, ok } of tests) {
    const key = `${floor}: ${name}`;
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
  // A test that a round left out, because its group had ended, is no pass either.
  const missing = [...counts].filter(([, { passed, failed }]) => passed + failed.length < rounds);
  for (const [name, { passed, failed }] of missing) {
    console.log(`${String(passed + failed.length).padStart(4)} of ${rounds} rounds ran  ${name}`);
  }
  const results = [...counts.values()].reduce((sum, it) => sum + it.passed + it.failed.length, 0);
  const other = unsteady.reduce((sum, [, { failed }]) => sum + failed.length, 0);
  console.log(`${counts.size} tests, ${rounds} rounds, ${results} results, ${other} of them other than a pass`);
  if (unsteady.length > 0 || missing.length > 0) {
    throw new StepError("The suite is not steady.");
  }
}
