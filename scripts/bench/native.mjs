/**
 * The agent for native programs: the cost of a call of a function that was built with -finstrument-functions, when it is
 * monitored, not selected, or its gate is shut. Writes its section of docs/benchmarks.md.
 */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root, run, StepError, step } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { median } from "./lib/statistics.mjs";

const work = path.join(root, "out", "bench", "native");
const agent = path.join(root, "bin", "libfulcrum_native_agent.so");
const observe = "observe_method_invocations\n";

/** What is compared: the program, and the agent's filter. Without a filter, the agent is not loaded. */
const ways = {
  plain: { name: "built without probes" },
  alone: { name: "built with probes, without the agent", probes: true },
  excluded: { name: "not selected", probes: true, filter: `${observe}excludemethod * step\n` },
  // After the first thousand calls.
  shut: { name: "gate shut", probes: true, filter: observe, rule: "inherent wall >= 1ms after 1000" },
  monitored: { name: "traced", probes: true, filter: observe },
};

/** Nanoseconds per call in each round of the program, without the first, which is the warm-up. */
async function measure(way, { rounds, calls }) {
  const { probes, filter, rule } = ways[way];
  const program = path.join(work, probes ? "probes" : "plain");
  const run = path.join(work, "run");
  rmSync(run, { recursive: true, force: true });
  mkdirSync(run, { recursive: true });
  let env = {};
  if (filter !== undefined) {
    writeFileSync(path.join(run, "filter"), filter);
    writeFileSync(path.join(run, "agent.options"), `limit=4294967296\n${rule === undefined ? "" : `rule=${rule}\n`}`);
    env = { LD_PRELOAD: agent, FULCRUM_TRACE: run };
  }
  const { code, stdout } = await runChild([program, `${rounds + 1}`, `${calls}`], { env, limit: 120 });
  const log = readdirSync(run).find((name) => name.endsWith(".log"));
  const bytes = log === undefined ? 0 : statSync(path.join(run, log)).size;
  rmSync(run, { recursive: true, force: true });
  if (code !== 0 || (filter !== undefined && log === undefined)) {
    throw new StepError(`${ways[way].name}: the program ended with status ${code}.`);
  }
  return { ns: stdout.trim().split("\n").slice(1).map(Number), bytes };
}

async function measureAll(sizes) {
  mkdirSync(work, { recursive: true });
  const source = path.join(root, "scripts", "bench", "native", "calls.c");
  await run("gcc", ["-O2", "-o", path.join(work, "plain"), source]);
  await run("gcc", ["-O2", "-finstrument-functions", "-o", path.join(work, "probes"), source]);
  const results = Object.fromEntries(Object.keys(ways).map((way) => [way, { ns: [], bytes: 0 }]));
  // In turn, so that changes on the machine affect all of them.
  for (let turn = 0; turn < sizes.turns; turn++) {
    for (const way of Object.keys(ways)) {
      const { ns, bytes } = await measure(way, sizes);
      results[way].ns.push(median(ns));
      results[way].bytes = bytes;
    }
  }
  return { sizes, results };
}

function report(journal) {
  const { machine, fulcrum, revision, compilers } = journal.get("machine");
  const { sizes, results } = journal.get("calls");
  const plain = results.plain.ns;
  const rows = Object.entries(results).map(([way, { ns }]) => {
    const added = ns.map((one, turn) => one - plain[turn]);
    const numbers = [median(ns), median(added), Math.min(...added), Math.max(...added)].map((it) => it.toFixed(1));
    const [call, most, from, to] = numbers;
    return `| ${ways[way].name} | ${call} | ${way === "plain" ? "" : most} | ${way === "plain" ? "" : `${from} to ${to}`} |`;
  });
  const bytes = results.monitored.bytes / ((sizes.rounds + 1) * sizes.calls);
  return [
    "## Event traces of native programs",
    `${journal.dates()}, ${fulcrum} (${revision}), ${machine}, ${compilers}.`,
    `The cost of a call, entry and exit together: a function that adds a number, \`gcc -O2\`. All rows take turns ${sizes.turns} times; each time
is the median of ${sizes.rounds} rounds of ${sizes.calls.toLocaleString("en")} calls in a process of its own. A traced call logs two events with wall and CPU time,
${bytes.toFixed(1)} bytes. Without the agent, the program calls libc's own empty probes.`,
    ["| | ns per call | more than without probes | range over turns |", "| --- | ---: | ---: | ---: |", ...rows].join(
      "\n",
    ),
  ].join("\n\n");
}

export async function bench(args) {
  const options = parseOptions(args);
  const journal = new Journal(options.quick ? "native-quick" : "native");
  if (!options.report) {
    warnIfBusy();
    journal.put("machine", await describeMachine());
    const sizes = options.quick ? { turns: 2, rounds: 3, calls: 100_000 } : { turns: 15, rounds: 10, calls: 2_000_000 };
    journal.put("calls", await step("cost of a monitored call", () => measureAll(sizes)));
  }
  if (options.quick) {
    console.log(`\n${report(journal)}\n\nThese were tiny runs (--quick): docs/benchmarks.md is not changed.`);
  } else {
    writeSection("docs/benchmarks.md", "native", report(journal));
  }
}
