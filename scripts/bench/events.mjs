/**
 * The commands for event traces on a log of a hundred million events: time, and memory, which must not grow with the log.
 * The log is generated, and removed afterwards. `--quick` uses a million events.
 */
import { mkdirSync, rmSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import path from "node:path";
import { engine, root, run, StepError, step, target } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { measure } from "./paths/process.mjs";

const fulcrum = path.join(root, "bin", "fulcrum");
const folder = path.join(root, "out", "bench", "events");

/** The memory limit of the streaming commands, MB. It is the same for a log a thousand times larger. */
const limit = 64;

export async function bench(args) {
  const { quick } = parseOptions(args);
  const events = quick ? 1_000_000 : 100_000_000;
  const log = path.join(folder, "events-1.log");
  mkdirSync(folder, { recursive: true });
  try {
    await step("log", async () => {
      await run("cargo", ["build", "--release", "--quiet", "-p", "fulcrum-event-log", "--example", "large_log"], {
        cwd: engine,
      });
      const { code, stderr } = await runChild(
        [path.join(target, "release", "examples", "large_log"), log, String(events)],
        { limit: 600 },
      );
      if (code !== 0) {
        throw new StepError(`The log was not written: ${stderr}`);
      }
    });
    warnIfBusy();
    const [load] = loadavg();
    const rows = [];
    for (const [name, command, output] of commands(log)) {
      const file = output === undefined ? undefined : path.join(folder, output);
      const to = file === undefined ? [] : ["-o", file];
      const measured = await step(name, () => measure([fulcrum, "events", ...command, ...to]));
      rows.push({ name, ...measured, bytes: file === undefined ? undefined : statSync(file).size });
      if (file !== undefined) {
        rmSync(file);
      }
    }
    const text = await section(events, statSync(log).size, rows, load);
    if (quick) {
      console.log(`\n${text}\n\nA small log (--quick): docs/benchmarks.md is not changed.`);
    } else {
      writeSection("docs/benchmarks.md", "events", text);
    }
    const greedy = rows.filter(({ megabytes }) => megabytes > limit);
    if (greedy.length > 0) {
      throw new StepError(`${greedy.map(({ name }) => name).join(", ")}: more than ${limit} MB of memory.`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns {[string, string[], string?][]} the description, the command, and the file that it writes */
function commands(log) {
  const query = (text) => ["query", text, log, "--json"];
  const write = (format) => ["export", log, "--format", format];
  return [
    ["`stats --json`", ["stats", log, "--json"]],
    ["`query`: calls and p99 of each method", query("kind = call group by method select count, mean(wall), p99(wall)")],
    ["`query`: contentions above 300 ns", query("kind = contended and wall > 300ns select thread, start, wall")],
    ["`export --format csv`", write("csv")],
    ["`export --format parquet`", write("parquet"), "events.parquet"],
    ["`export --format perfetto`", write("perfetto"), "events.perfetto"],
    ["`tree --depth 1`", ["tree", log, "--depth", "1", "--limit", "100"]],
    ["`list --json` of all events", ["list", log, "--json"]],
  ];
}

async function section(events, bytes, rows, load) {
  const { machine, fulcrum, revision } = await describeMachine();
  const inMegabytes = (value) => `${(value / 1e6).toFixed(0)} MB`;
  const lines = rows.map((row) => {
    const size = row.bytes === undefined ? "" : inMegabytes(row.bytes);
    const rate = `${(events / row.seconds / 1e6).toFixed(1)} M`;
    return `| ${row.name} | ${row.seconds.toFixed(1)} s | ${rate} | ${row.megabytes.toFixed(1)} MB | ${size} |`;
  });
  const busy =
    load > 1 ? ` Other programs ran too (load ${load.toFixed(1)} at the beginning): times are upper bounds.` : "";
  const day = new Date().toISOString().slice(0, 10);
  return [
    "## Large event traces",
    `${day}, ${fulcrum} (${revision}), ${machine}.`,
    `A generated log of ${events.toLocaleString("en")} events of eight threads, ${inMegabytes(bytes)}. Each command reads it from beginning to end, and writes to a file
where its size is given; otherwise the output is discarded. *Memory* is the peak resident size of the process.${busy}`,
    [
      "| `fulcrum events …` | time | events a second | memory | file |",
      "| --- | ---: | ---: | ---: | ---: |",
      ...lines,
    ].join("\n"),
  ].join("\n\n");
}
