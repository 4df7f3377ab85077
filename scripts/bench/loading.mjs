/** How long a profile takes to load and analyse. */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import { root, run } from "../lib/steps.mjs";
import { writeSection } from "./lib/document.mjs";
import { generator, median } from "./lib/statistics.mjs";

const rounds = 7;
const fulcrum = path.join(root, "bin", "fulcrum");

export async function bench() {
  const folder = mkdtempSync(path.join(tmpdir(), "fulcrum-bench-"));
  try {
    const lines = [
      "## Loading a profile",
      "",
      `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown CPU"}.`,
      "",
      ...(await measureLoading(folder)),
    ];
    writeSection("docs/benchmarks.md", "loading", lines.join("\n"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureLoading(folder) {
  const rows = [];
  for (const experiments of [1000, 20_000]) {
    const file = path.join(folder, `${experiments}.coz`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, syntheticProfile(experiments));
    const times = [];
    for (let round = 0; round < rounds; round += 1) {
      times.push(await time(fulcrum, ["causal", "show", file, "--json"], folder));
    }
    const size = (statSync(file).size / 1e6).toFixed(1);
    rows.push(row(`${experiments} experiments on 50 lines, ${size} MB`, times));
  }
  return [
    `\`fulcrum causal show FILE --json\` on generated coz files: the whole command, medians of ${rounds} runs.`,
    "",
    "| | median | least | most |",
    "|---|---:|---:|---:|",
    ...rows,
  ];
}

/** A coz profile of known shape: 50 lines, 21 speedups, a fixed pseudorandom noise of 2 %. */
function syntheticProfile(experiments) {
  const random = generator(12345);
  const lines = ["startup\ttime=1"];
  for (let index = 0; index < experiments; index += 1) {
    const line = 1 + (index % 50);
    const speedup = Math.floor(random() * 2) * 0.05 * Math.floor(random() * 21);
    const duration = Math.round(5e8 * (1 - (speedup * line) / 100) * (1 + 0.02 * (random() - 0.5)));
    const selected = `selected=/app/src/main.c:${line}\tspeedup=${speedup.toFixed(2)}`;
    lines.push(`experiment\t${selected}\tduration=${duration}\tselected-samples=${50 + line}`);
    lines.push("throughput-point\tname=iteration\tdelta=100");
  }
  for (let line = 1; line <= 50; line += 1) {
    lines.push(`samples\tlocation=/app/src/main.c:${line}\tcount=${Math.round((experiments / 50) * (50 + line))}`);
  }
  lines.push(`runtime\ttime=${experiments * 5e8}`, "");
  return lines.join("\n");
}

async function time(command, args, cwd) {
  const start = process.hrtime.bigint();
  await run(command, args, { cwd });
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function row(name, values) {
  const ms = (value) => `${value.toFixed(0)} ms`;
  return `| ${name} | ${ms(median(values))} | ${ms(Math.min(...values))} | ${ms(Math.max(...values))} |`;
}
