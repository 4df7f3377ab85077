/**
 * `npm run bench -- fuzz [--seconds N] [TARGET…]`: runs each fuzz target for N seconds (60 unless told), one after the
 * other, and prints what each did. New inputs are kept in engine/fuzz/found, findings in engine/fuzz/artifacts.
 */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { engine, run, StepError, step, tryRun, which } from "../lib/steps.mjs";

const folder = path.join(engine, "fuzz");
/** MB: more than any reader needs for what a fuzzer writes. */
const memory = 2048;
/** Bytes of the longest input. */
const longest = 8192;
/** Seconds for one input. */
const patience = 20;

export async function bench(args) {
  const { seconds, targets } = options(args);
  await checkFuzzer();
  await step("fuzz targets", () => run("cargo", ["+nightly", "fuzz", "build", "--fuzz-dir", folder], { cwd: engine }));
  const rows = [];
  for (const target of targets) {
    rows.push(await fuzz(target, seconds));
  }
  console.log("\n| target | runs | seconds | inputs kept | findings |\n|---|---:|---:|---:|---:|");
  for (const row of rows) {
    console.log(`| ${row.target} | ${row.runs} | ${row.seconds} | ${row.inputs} | ${row.findings} |`);
  }
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const findings = sum("findings");
  console.log(`| together | ${sum("runs")} | ${sum("seconds")} | ${sum("inputs")} | ${findings} |`);
  if (findings > 0) {
    throw new StepError(
      `${findings} findings are in engine/fuzz/artifacts: fix each and put its input into the corpus.`,
    );
  }
}

function options(args) {
  const all = readdirSync(path.join(folder, "fuzz_targets")).map((name) => path.basename(name, ".rs"));
  const targets = [];
  let seconds = 60;
  for (let index = 0; index < args.length; index += 1) {
    if (args[index] === "--seconds") {
      index += 1;
      seconds = Number(args[index]);
    } else {
      targets.push(args[index]);
    }
  }
  const unknown = targets.filter((name) => !all.includes(name));
  if (unknown.length > 0 || !Number.isInteger(seconds) || seconds < 1) {
    throw new StepError(
      `usage: npm run bench -- fuzz [--seconds N] [TARGET…], where TARGET is one of ${all.join(", ")}.`,
    );
  }
  return { seconds, targets: targets.length > 0 ? targets : all };
}

async function checkFuzzer() {
  const own = path.join(process.env.CARGO_HOME ?? path.join(homedir(), ".cargo"), "bin", "cargo-fuzz");
  const { output } = await tryRun("rustup", ["toolchain", "list"]);
  if ((which("cargo-fuzz") === undefined && !existsSync(own)) || !/^nightly/m.test(output)) {
    throw new StepError(
      "Fuzzing needs a nightly toolchain and cargo-fuzz: run `rustup toolchain install nightly && cargo install cargo-fuzz`.",
    );
  }
}

async function fuzz(target, seconds) {
  const found = path.join(folder, "found", target);
  mkdirSync(found, { recursive: true });
  const before = count(path.join(folder, "artifacts", target));
  const start = Date.now();
  const { code, output } = await tryRun(
    "cargo",
    [
      "+nightly",
      "fuzz",
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
      "-print_final_stats=1",
    ],
    { cwd: engine },
  );
  const runs = Number(/stat::number_of_executed_units:\s+(\d+)/.exec(output)?.[1] ?? 0);
  const findings = count(path.join(folder, "artifacts", target)) - before;
  if (code !== 0 && findings === 0) {
    throw new StepError(`${output.trimEnd().split("\n").slice(-20).join("\n")}\nThe target ${target} did not run.`);
  }
  const row = { target, runs, seconds: Math.round((Date.now() - start) / 1000), inputs: count(found), findings };
  console.log(`${target.padEnd(16)} ${row.runs} runs, ${row.inputs} inputs kept, ${row.findings} findings`);
  return row;
}

function count(directory) {
  return existsSync(directory) ? readdirSync(directory).length : 0;
}
