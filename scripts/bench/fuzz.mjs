/**
 * `npm run bench -- fuzz [--seconds N] [--workers N] [TARGET…]`: runs each fuzz target until it has had N seconds of processor
 * time (60 unless told), earlier runs included, one a processor unless told and in turns, and prints what each did. It can be
 * interrupted and goes on where it was. New inputs are kept in engine/fuzz/found, findings in engine/fuzz/artifacts. Times are kept in
 * engine/fuzz/times.jsonl, which is committed: hours a target are more than one sitting. A target with a finding is left
 * alone until its artifact is gone, which says that the reader was mended; its time then begins anew.
 */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { availableParallelism, homedir } from "node:os";
import path from "node:path";
import { engine, run, StepError, step, tryRun, which } from "../lib/steps.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine } from "./lib/machine.mjs";

const folder = path.join(engine, "fuzz");
/** MB: more than any reader needs for what a fuzzer writes. */
const memory = 2048;
/** Bytes of the longest input. */
const longest = 8192;
/** Seconds for one input; many, because the machine may have other work: what takes less is no finding. */
const patience = 60;
/** Seconds by the clock after which times are written down. */
const slice = 240;
const nothing = { runs: 0, seconds: 0, inputs: 0, findings: 0, mended: 0 };

export async function bench(args) {
  const { seconds, workers, targets } = options(args);
  const fuzzer = await findFuzzer();
  await step("fuzz targets", () =>
    run("cargo", [...fuzzer.command, "build", "--fuzz-dir", folder], { cwd: engine, env: fuzzer.env }),
  );
  const journal = new Journal("fuzz", path.join(folder, "times.jsonl"));
  beginAnew(journal);
  const turns = new Turns(targets, seconds, journal);
  await Promise.all(Array.from({ length: workers }, () => work(turns, fuzzer)));
  journal.compact();
  const rows = all().map((target) => ({ target, ...(journal.get(target) ?? nothing) }));
  await report(rows, journal.dates());
  const findings = sum(rows, "findings");
  if (findings > 0) {
    throw new StepError(
      `${findings} findings are in engine/fuzz/artifacts: fix each and put its input into the corpus.`,
    );
  }
}

function all() {
  return readdirSync(path.join(folder, "fuzz_targets")).map((name) => path.basename(name, ".rs"));
}

/** What ran before a reader was mended says nothing of it now. */
function beginAnew(journal) {
  for (const target of all()) {
    const { findings, mended } = journal.get(target) ?? nothing;
    if (findings > 0 && count(artifactsOf(target)) === 0) {
      journal.put(target, { ...nothing, mended: mended + findings });
    }
  }
}

function artifactsOf(target) {
  return path.join(folder, "artifacts", target);
}

function options(args) {
  const targets = [];
  const numbers = { "--seconds": 60, "--workers": availableParallelism() };
  for (let index = 0; index < args.length; index += 1) {
    if (args[index] in numbers) {
      numbers[args[index]] = Number(args[index + 1]);
      index += 1;
    } else {
      targets.push(args[index]);
    }
  }
  const unknown = targets.filter((name) => !all().includes(name));
  if (unknown.length > 0 || Object.values(numbers).some((number) => !Number.isInteger(number) || number < 1)) {
    throw new StepError(
      `usage: npm run bench -- fuzz [--seconds N] [--workers N] [TARGET…], where TARGET is one of ${all().join(", ")}.`,
    );
  }
  return {
    seconds: numbers["--seconds"],
    workers: numbers["--workers"],
    targets: targets.length > 0 ? targets : all(),
  };
}

/** libFuzzer's instrumentation needs a compiler that takes unstable options: a nightly one, or a stable one that is told to. */
async function findFuzzer() {
  const own = path.join(process.env.CARGO_HOME ?? path.join(homedir(), ".cargo"), "bin", "cargo-fuzz");
  if (which("cargo-fuzz") === undefined && !existsSync(own)) {
    throw new StepError(
      "Fuzzing needs cargo-fuzz: run `cargo install cargo-fuzz`. A nightly toolchain is used if there is one, else the stable one.",
    );
  }
  const { output } = await tryRun("rustup", ["toolchain", "list"]);
  return /^nightly/m.test(output)
    ? { command: ["+nightly", "fuzz"], env: {} }
    : { command: ["fuzz"], env: { RUSTC_BOOTSTRAP: "1" } };
}

/** Whose turn it is: of the targets that nobody runs, the one that had least. */
class Turns {
  constructor(targets, seconds, journal) {
    this.waiting = new Set(targets);
    this.seconds = seconds;
    this.journal = journal;
  }

  of(target) {
    return this.journal.get(target) ?? nothing;
  }

  take() {
    const [next] = [...this.waiting].sort((one, other) => this.of(one).seconds - this.of(other).seconds);
    this.waiting.delete(next);
    return next;
  }

  add(target, { runs, used, inputs, findings }) {
    const before = this.of(target);
    const total = this.journal.put(target, {
      runs: before.runs + runs,
      seconds: before.seconds + used,
      inputs,
      findings: before.findings + findings,
      mended: before.mended,
    });
    if (total.seconds < this.seconds && total.findings === 0) {
      this.waiting.add(target);
    }
    console.log(
      `${target.padEnd(16)} ${total.runs} runs, ${Math.round(total.seconds)} s, ${inputs} inputs kept, ${total.findings} findings`,
    );
  }
}

async function work(turns, fuzzer) {
  for (let target = turns.take(); target !== undefined; target = turns.take()) {
    const { seconds, findings } = turns.of(target);
    if (seconds < turns.seconds && findings === 0) {
      turns.add(target, await fuzzOnce(fuzzer, target, Math.min(slice, Math.ceil(turns.seconds - seconds))));
    }
  }
}

/** One slice: at most `seconds` by the clock. `used` are seconds of processor time. */
async function fuzzOnce({ command, env }, target, seconds) {
  const found = path.join(folder, "found", target);
  const artifacts = artifactsOf(target);
  mkdirSync(found, { recursive: true });
  const before = count(artifacts);
  const fuzzer = [
    "cargo",
    ...command,
    "run",
    "--fuzz-dir",
    folder,
    target,
    found,
    path.join(folder, "corpus", target),
    "--",
    `-max_total_time=${seconds}`,
    `-rss_limit_mb=${memory}`,
    `-malloc_limit_mb=${memory / 4}`,
    `-max_len=${longest}`,
    `-timeout=${patience}`,
    `-report_slow_units=${patience}`,
    "-print_funcs=0",
    "-print_final_stats=1",
  ];
  const { code, output } = await tryRun("sh", ["-c", '"$@"; code=$?; times; exit $code', "sh", ...fuzzer], {
    cwd: engine,
    env,
  });
  const runs = Number(/stat::number_of_executed_units:\s+(\d+)/.exec(output)?.[1] ?? 0);
  const findings = count(artifacts) - before;
  if ((code !== 0 || runs === 0) && findings === 0) {
    throw new StepError(`${output.trimEnd().split("\n").slice(-20).join("\n")}\nThe target ${target} did not run.`);
  }
  return { runs, used: processorSeconds(output), findings, inputs: count(found) };
}

/** What `times` of the shell says of its children, which it prints last: `0m59.1s 0m0.9s`. */
function processorSeconds(output) {
  const [user, system] = output.trimEnd().split("\n").at(-1).trim().split(/\s+/);
  const inSeconds = (text) => {
    const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text);
    return 60 * Number(minutes) + Number(seconds);
  };
  return inSeconds(user) + inSeconds(system);
}

async function report(rows, dates) {
  const { machine, revision } = await describeMachine();
  const line = ({ target, runs, seconds, inputs, findings, mended }) =>
    `| ${target} | ${(runs / 1e6).toFixed(2)} | ${Math.round(seconds / 60)} | ${inputs} | ${findings} | ${mended} |`;
  const together = { target: "**together**" };
  for (const key of Object.keys(nothing)) {
    together[key] = sum(rows, key);
  }
  writeSection(
    "docs/benchmarks.md",
    "fuzz",
    `## Damaged input

libFuzzer on each reader (\`npm run bench -- fuzz\`): with AddressSanitizer, inputs up to 8 KiB, no allocation above 512 MB, at most
a minute for each input. Inputs of findings that were fixed are in the corpus; a target's runs and minutes count from its last fix.

| target | million runs | CPU minutes | inputs kept | findings | fixed before |
|---|---:|---:|---:|---:|---:|
${[...rows, together].map(line).join("\n")}

Run ${dates}, last on ${revision}; ${machine}.`,
  );
}

function sum(rows, key) {
  return rows.reduce((total, row) => total + row[key], 0);
}

function count(directory) {
  return existsSync(directory) ? readdirSync(directory).length : 0;
}
