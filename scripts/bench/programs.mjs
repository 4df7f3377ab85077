/**
 * `npm run bench -- programs [PROGRAM…] [KEY=FOLDER…]`: the causal profiler on other people's programs, built from the
 * distribution's sources, from crates, and from named folders if they cannot be fetched. Reports for each program whether it
 * behaves as alone, how long the first verdict took, the best function, and the gain of a known fix. Writes the table in
 * docs/programs.md.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { constants, loadavg } from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { engineBinary, StepError, step, which } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { chosen, keys, programs } from "./programs/programs.mjs";
import { report } from "./programs/report.mjs";
import { work } from "./programs/sources.mjs";

/** How long a program runs, seconds; and how long a second run takes if the first had no verdict. */
const seconds = { normal: [30, 60], quick: [4] };
/** The time limit of anything. */
const patience = 600;
const folder = path.join(work, "run");

export async function bench(args) {
  const options = parseOptions(args, { keys });
  const wanted = chosen(options.names);
  const journal = new Journal(options.quick ? "programs-quick" : "programs");
  if (!options.report) {
    warnIfBusy();
    mkdirSync(work, { recursive: true });
    journal.put("machine", { ...(await describeMachine()), load: loadavg()[0] });
    for (const program of wanted.filter(({ name }) => !options.resume || journal.get(name) === undefined)) {
      const times = options.quick ? seconds.quick : seconds.normal;
      journal.put(program.name, await row(program, times, options.folders));
    }
  }
  const text = report(programs, journal);
  console.log(`\n${text}`);
  if (!options.quick) {
    writeSection("docs/programs.md", "programs", text);
  }
}

/** The results of one program. `missing` says why there are none. */
async function row(program, times, folders) {
  try {
    let measured;
    for (const time of times) {
      const prepared = await program.prepare(time, folders);
      if (prepared.ask !== undefined) {
        needs(prepared);
      }
      measured = await step(program.name, () => measure(prepared, time));
      if (measured.verdict !== undefined || measured.differences.length > 0) {
        break;
      }
    }
    const { repair } = program;
    return repair === undefined
      ? measured
      : { ...measured, repair: await step(`${program.name}: repaired`, () => repair(times[0] / 3, folders)) };
  } catch (error) {
    if (!(error instanceof StepError)) {
      throw error;
    }
    console.log(`${program.name}: ${error.message}`);
    return { missing: error.message.split("\n").at(-1) };
  }
}

function needs({ command }) {
  const benchmarks = { nginx: "ab", "redis-server": "redis-benchmark", "mini-redis-server": "redis-benchmark" };
  const asked = benchmarks[path.basename(command.find((it) => path.basename(it) in benchmarks) ?? "")];
  if (asked !== undefined && which(asked) === undefined) {
    throw new StepError(`${asked} is missing. Install apache2-utils and redis-tools.`);
  }
}

/** Alone, then recorded. */
async function measure(prepared, time) {
  const alone = await performed(prepared, prepared.command, time);
  rmSync(folder, { recursive: true, force: true });
  const progress = prepared.progress.flatMap((line) => ["--progress", line]);
  const options = ["run", "--output", folder, "--target", "function", ...progress, ...(prepared.options ?? []), "--"];
  const watch = new AbortController();
  const verdict = firstVerdict(watch.signal);
  // Report the failure to whoever waits for it.
  verdict.catch(() => {});
  let recorded;
  try {
    recorded = await performed(prepared, [engineBinary, ...options, ...prepared.command], time);
  } finally {
    watch.abort();
  }
  const shown = existsSync(folder) ? await show() : undefined;
  return {
    alone,
    recorded: { ...recorded, errors: undefined },
    differences: differences(prepared, alone, recorded),
    verdict: await verdict,
    progress: prepared.marked ?? prepared.progress,
    best: shown?.best ?? [],
    worth: shown?.worth,
    notes: shown?.notes ?? [recorded.errors.trim().split("\n").at(-1)],
  };
}

function differences({ ask, unordered }, alone, recorded) {
  const found = [];
  if (alone.end !== recorded.end) {
    found.push(`ended with ${recorded.end} instead of ${alone.end}`);
  }
  if (ask !== undefined && (recorded.wrong > 0 || recorded.right === 0)) {
    found.push(`${recorded.wrong} wrong answers`);
  }
  if (ask === undefined && alone.output !== recorded.output) {
    found.push(unordered ? "other lines of output" : "other output");
  }
  return found;
}

/**
 * Starts it, and waits for its end.
 * @param {import("./programs/programs.mjs").Work} prepared
 * @param {string[]} command
 * @param {number} time
 */
async function performed(prepared, command, time) {
  const out = path.join(work, "out");
  const [program = "", ...args] = command;
  if (prepared.pidFile !== undefined) {
    rmSync(prepared.pidFile, { force: true });
  }
  const began = performance.now();
  const { cwd = work, env = {} } = prepared;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], cwd, env: { ...process.env, ...env } });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errors = (errors + text).slice(-20_000);
  });
  const ended = new Promise((resolve, reject) => {
    // With Fulcrum and shells, a status of 128 or more means that a signal ended the program.
    const status = (code, signal) => (signal === null ? code : 128 + constants.signals[signal]);
    child.on("error", reject).on("exit", (code, signal) => resolve(`status ${status(code, signal)}`));
  });
  const written = pipeline(child.stdout, createWriteStream(out));
  const limit = setTimeout(() => child.kill("SIGKILL"), patience * 1000);
  let asked = {};
  try {
    asked = prepared.ask === undefined ? {} : await askFor(prepared, time);
  } catch (error) {
    // The user interrupted, or the server never started.
    child.kill("SIGTERM");
    throw error;
  }
  const end = await ended;
  clearTimeout(limit);
  await written;
  const output = await digest(out, prepared);
  return { seconds: (performance.now() - began) / 1000, end, output, errors, ...asked };
}

/** Sends requests to a server for a while, and then ends it. */
async function askFor({ pidFile, ask }, time) {
  const id = await processOf(pidFile);
  let right = 0;
  let wrong = 0;
  try {
    for (const end = Date.now() + time * 1000; Date.now() < end; ) {
      const answers = await ask();
      right += answers;
      wrong += answers === 0 ? 1 : 0;
    }
  } finally {
    terminate(id);
  }
  return { right, wrong };
}

/** Ends a server, which may have ended already. */
function terminate(id) {
  try {
    process.kill(id, "SIGTERM");
  } catch (error) {
    if (error.code !== "ESRCH") {
      throw error;
    }
  }
}

/** The process id that a server writes into a file when it is ready. */
async function processOf(file) {
  for (let tries = 0; tries < 1200; tries += 1) {
    const id = existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : Number.NaN;
    if (id > 0) {
      // It listens by the time that a client has started.
      await pause(500);
      return id;
    }
    await pause(50);
  }
  throw new StepError("The server did not start.");
}

async function digest(file, { unordered, times }) {
  const hash = createHash("sha256");
  if (unordered) {
    const lines = new Set(readFileSync(file, "utf8").split("\n"));
    hash.update([...lines].sort().join("\n"));
  } else if (times !== undefined) {
    hash.update(readFileSync(file, "utf8").replaceAll(times, ""));
  } else {
    await pipeline(createReadStream(file), hash);
  }
  rmSync(file);
  return hash.digest("hex").slice(0, 16);
}

/** Seconds until a target's effect was distinguished from noise. */
async function firstVerdict(signal) {
  const began = performance.now();
  while (!signal.aborted) {
    await pause(2000, undefined, { signal }).catch(() => {});
    const shown = existsSync(folder) ? await show() : undefined;
    if (shown?.best.some(({ known }) => known)) {
      return (performance.now() - began) / 1000;
    }
  }
  return undefined;
}

/** The best function of each progress point, and the run's notes. */
async function show() {
  const { code, stdout } = await runChild([engineBinary, "causal", "show", folder, "--json"]);
  if (code !== 0 && code !== 1) {
    return undefined;
  }
  const { progressPoints } = JSON.parse(stdout);
  const { notes, firstVerdict: worth } = JSON.parse(readFileSync(path.join(folder, "run.json"), "utf8"));
  const best = progressPoints.flatMap(({ name, targets: [first] }) => {
    const half = first?.points.find(({ speedup }) => speedup === 0.5);
    return half === undefined
      ? []
      : [
          {
            point: name,
            target: first.name,
            line: first.location,
            known: first.shape !== "unknown",
            gain: half.programSpeedup,
            low: half.low,
            high: half.high,
          },
        ];
  });
  return { best, notes, worth };
}
