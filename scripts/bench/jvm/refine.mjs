/** The refine loop on H2: from all methods of a library to its hotspots (the paper's tables). */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { StepError } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { agent, compile, fulcrum, jar, work } from "./tools.mjs";

/** The limits from issue 5's "Done when". */
const limit = { methods: 100, iterations: 4, overhead: 0.03, gateNs: 3 };
/** The paper's rule. */
const rule = "inherent wall >= 50us after 1000";

/** The loop's last filter. Tiny runs have their own. */
const lastFilter = (quick) => path.join(work, quick ? "refined-quick.fulcrum-filter" : "refined.fulcrum-filter");

/** A filter with all methods of the library. */
function allOfH2() {
  const filter = path.join(work, "refine.fulcrum-filter");
  writeFileSync(filter, "observe_method_invocations\nincludemethod org.h2.* *\nexcludemethod * *\n");
  return filter;
}

async function h2Program(jdk, jars, units) {
  const classes = await compile(jdk, "refine", ["RefineH2.java", "LoadAll.java", "ShutGate.java"], jars);
  const java = [jdk.java, "-Xverify:all", "-XX:+UseSerialGC", "-Xms512m", "-Xmx512m"];
  const program = [...java, "-cp", `${classes}:${jar(jars, "h2")}`];
  return { classes, java: program, units, program: [...program, "RefineH2", String(units)] };
}

/** Measures the cost of the loop's last filter in many pairs of runs. @returns the row of its only iteration */
export async function measureOverhead({ jdks, jars, quick }) {
  const { program, units } = await h2Program(jdks[0], jars, quick ? 500 : 10_000);
  const last = lastFilter(quick);
  if (!existsSync(last)) {
    // If there was no loop with many runs, a loop with single runs finds the filter.
    const loop = ["--runs", "1", "--no-baseline", "--iterations", String(limit.iterations), "--recheck", "0"];
    const found = await refine(["--rule", rule, "--unit", "RefineH2.unit", "--filter", allOfH2(), ...loop], program);
    copyFileSync(found.filter, last);
  }
  const runs = quick ? 2 : 30;
  const options = ["--rule", rule, "--unit", "RefineH2.unit", "--filter", last, "--runs", String(runs)];
  const measured = await refine([...options, "--iterations", "1", "--recheck", "0"], program);
  return { jdk: jdks[0].name, units, runs, row: measured.iterations[0] };
}

/** @returns the loop's rows, and whether everything passes verification with the same results */
export async function measureRefine({ jdks, jars, quick }) {
  const [jdk] = jdks;
  const h2 = jar(jars, "h2");
  const { classes, java, program, units } = await h2Program(jdk, jars, quick ? 500 : 10_000);
  const filter = allOfH2();

  // Every class of the library, even those that the program does not use.
  const once = ["--iterations", "1", "--runs", "1", "--no-baseline"];
  const all = await refine([...once, "--filter", filter], [...java, "LoadAll", h2]);
  const linked = readFileSync(path.join(all.folder, "iteration-1", "stdout.txt"), "utf8").trim();
  const alone = await runChild([...java, "LoadAll", h2], { limit: 120 });

  const expected = await runChild(program, { limit: 120 });
  const runs = ["--runs", quick ? "2" : "8", "--iterations", String(limit.iterations), "--recheck", "2"];
  const options = ["--rule", rule, "--unit", "RefineH2.unit", "--filter", filter, ...runs];
  const loop = await refine(options, program);
  copyFileSync(loop.filter, lastFilter(quick));
  const outputs = loop.iterations.map(({ run }) => readFileSync(path.join(run, "stdout.txt"), "utf8"));
  return {
    gates: await shutGates(jdks, classes),
    jdk: jdk.name,
    units,
    rule,
    verified: { methods: all.iterations[0].methods, alone: alone.stdout.trim(), linked },
    same: outputs.every((output) => output === expected.stdout),
    stable: loop.stable,
    hotspots: loop.hotspots.length,
    notes: loop.notes,
    iterations: loop.iterations,
    runs: Number(runs[1]),
  };
}

/** The cost of a call without the agent, and with its method's gate shut, in nanoseconds. */
async function shutGates(jdks, classes) {
  const folder = path.join(work, "gate");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "filter"), "observe_method_invocations\nincludemethod ShutGate work\n");
  writeFileSync(path.join(folder, "agent.options"), `limit=${2 ** 30}\nrule=${rule}\n`);
  const rows = [];
  for (const jdk of jdks) {
    const time = async (options) => {
      const { code, stdout, stderr } = await runChild([jdk.java, ...options, "-cp", classes, "ShutGate"], {
        limit: 60,
      });
      if (code !== 0) {
        throw new StepError(`ShutGate on JDK ${jdk.name} ended with ${code}:\n${stderr}`);
      }
      return Number.parseFloat(stdout);
    };
    rows.push({ jdk: jdk.name, alone: await time([]), shut: await time([`-agentpath:${agent}=${folder}`]) });
  }
  return rows;
}

async function refine(options, program) {
  const folder = path.join(work, "refined");
  rmSync(folder, { recursive: true, force: true });
  const command = [fulcrum, "refine", "--json", "--quiet", "--limit", "4G", "--output", folder, ...options, "--"];
  const { code, stdout, stderr } = await runChild([...command, ...program], { limit: 600 });
  // 1 means that no hotspot is left.
  if (code !== 0 && code !== 1) {
    throw new StepError(`fulcrum refine ended with ${code}:\n${stderr}`);
  }
  return { folder, ...JSON.parse(stdout) };
}

const grouped = (number) => number.toLocaleString("en");
const percent = (part) => `${(100 * part).toFixed(1)} %`;

/** The section of docs/benchmarks.md; undefined if the loop was not measured. */
export function refineSection(journal) {
  const refined = journal.get("refine");
  if (refined === undefined) {
    return undefined;
  }
  const { machine, fulcrum, revision } = journal.get("machine");
  return `## The refine loop\n\n${journal.dates()}, ${fulcrum} (${revision}), ${machine}.\n\n${refineText(refined)}`;
}

/** A separate section, because it takes long and is measured separately. Undefined if it was not measured. */
export function overheadSection(journal) {
  const measured = journal.get("overhead");
  if (measured === undefined) {
    return undefined;
  }
  const { machine, fulcrum, revision } = journal.get("machine");
  const { jdk, runs, units, row } = measured;
  const interval = (key) => `${percent(row[`${key}Low`])} to ${percent(row[`${key}High`])}`;
  return `## What the refine loop's last filter costs

${journal.dates()}, ${fulcrum} (${revision}), ${machine}.

The final filter of the loop on H2 (${row.methods} methods, JDK ${jdk}): ${runs} pairs of runs of ${grouped(units)} units of work, one with its probes and
one with a probe in the unit of work only, in alternating order. Overhead is the mean of the pairs' ratios, with a fifth of them
trimmed at each end; intervals are 95 %.

| | overhead | interval |
| --- | ---: | ---: |
| wall time | ${percent(row.overhead)} | ${interval("overhead")} |
| CPU time | ${percent(row.cpuOverhead)} | ${interval("cpuOverhead")} |`;
}

function refineText({ gates, jdk, units, rule, verified, same, stable, iterations, runs }) {
  const overhead = (row, key) => {
    const interval = `${percent(row[`${key}Low`])} to ${percent(row[`${key}High`])}`;
    return row[key] === null ? "-" : `${percent(row[key])} (${interval})`;
  };
  const micros = (ns) => (ns / 1000).toFixed(1);
  const lines = iterations.map((row) => {
    const counts = [row.number, grouped(row.methods), grouped(row.classes), grouped(row.fired), grouped(row.metered)];
    const times = [micros(row.wallNs), micros(row.cpuNs), micros(row.baselineWallNs), micros(row.baselineCpuNs)];
    return `| ${[...counts, ...times, overhead(row, "overhead"), overhead(row, "cpuOverhead")].join(" | ")} |`;
  });
  return [
    `The refine loop on H2 2.3.232, JDK ${jdk}, \`--rule "${rule}"\`: each run does ${grouped(units)} units of work (twenty look-ups, two changes
and a report). An iteration has ${runs} runs, each paired with a run that has a probe in the unit of work only. Times are microseconds
for each unit; intervals are 95 %. Under \`-Xverify:all\`, with probes behind gates in ${grouped(verified.methods)} methods: ${verified.linked}.
Results were ${same ? "unchanged in all iterations" : "NOT the same"}; in the end, the set was ${stable ? "stable" : "not stable"}.`,
    [
      "| iteration | methods | classes | fired | metered | wall | CPU | wall without | CPU without | overhead, wall | overhead, CPU |",
      "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
      ...lines,
    ].join("\n"),
    `A call whose gate is shut, in a loop whose calls depend on each other's results, the minimum of thirty rounds: ${gates
      .map(
        (row) =>
          `${(row.shut - row.alone).toFixed(2)} ns more than the ${row.alone.toFixed(2)} ns without a gate (JDK ${row.jdk})`,
      )
      .join(", ")}.`,
  ].join("\n\n");
}

/** What failed, as sentences. */
export function refineFailures({ gates, verified, same, iterations, hotspots }) {
  const failed = [];
  if (verified.linked !== verified.alone) {
    failed.push(`H2's classes link differently with probes: ${verified.linked}, without probes: ${verified.alone}.`);
  }
  if (!same) {
    failed.push("H2's results change under the refine loop.");
  }
  for (const { jdk, alone, shut } of gates) {
    if (shut - alone > limit.gateNs) {
      failed.push(`A shut gate costs ${(shut - alone).toFixed(2)} ns a call on JDK ${jdk}.`);
    }
  }
  const final = iterations.at(-1);
  if (final.methods >= limit.methods || hotspots >= limit.methods || iterations.length > limit.iterations) {
    failed.push(`The refine loop comes to ${final.methods} methods in ${iterations.length} iterations.`);
  }
  const metered = iterations.map((row) => row.metered);
  if (metered.some((count, n) => n > 0 && count >= metered[n - 1])) {
    failed.push(`The number of metered calls does not fall in every iteration: ${metered.join(", ")}.`);
  }
  // More than the machine's noise can explain.
  if (Math.min(final.overhead, final.cpuOverhead) > limit.overhead) {
    failed.push(`The last iteration's overhead is ${percent(final.overhead)} (CPU ${percent(final.cpuOverhead)}).`);
  }
  return failed;
}
