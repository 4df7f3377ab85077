/**
 * `npm run bench -- editor`: the cost of marks while typing in a file of 22,000 lines, each with a result, in a real editor.
 *
 * Chromium reports the CPU time of each task of the window's thread, which does not depend on the machine's load. A task of more
 * than 50 ms is noticeable. The same keys are typed with marks and then without, in one window.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import { launchBrowser, openPage, quietSettings } from "../../test/support/browser.mjs";
import { engineBinary, stageExtension } from "../../test/support/stage.mjs";
import { until, workbench } from "../../test/ui/workbench.mjs";
import { startEditor } from "../editor.mjs";
import { root, StepError } from "../lib/steps.mjs";
import { writeSection } from "./lib/document.mjs";
import { median } from "./lib/statistics.mjs";

const lines = 22_000;
const rounds = 5;
/** How long a task may take with marks, in milliseconds. */
const limit = 50;

/** Letters, a deleted word, and new lines: some move marks, some do not. */
const typed = ["int value = 42;", "Enter", "value += 1;", "Enter", "Backspace", "Backspace", "return value;"];

export async function bench(args) {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "fulcrum-bench-")));
  writeWorkspace(folder);
  const editor = await startEditor({
    extensions: [await stageExtension()],
    settings: { ...quietSettings, "editor.codeLens": false, "files.autoSave": "off" },
    env: { FULCRUM_ENGINE: engineBinary() },
  });
  const browser = await launchBrowser();
  try {
    const page = await openPage(browser, editor.url(folder));
    const result = await measure(browser, page, path.join(root, "out", "bench-editor.png"));
    const text = report(result);
    console.log(`\n${text}\n`);
    if (!args.includes("--no-write")) {
      writeSection("docs/benchmarks.md", "editor", text);
    }
    if (median(result.marked) > limit) {
      throw new StepError(`With marks, a task takes ${median(result.marked).toFixed(0)} ms; the limit is ${limit} ms.`);
    }
  } finally {
    await browser.close();
    await editor.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** A source file, and a causal profile with results for its lines. */
function writeWorkspace(folder) {
  const source = path.join(folder, "large.cpp");
  const code = Array.from({ length: lines }, (_, n) => `long f${n}(long x) { return x * ${n + 3}; }`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(source, `${code.join("\n")}\n`);
  const records = ["startup\ttime=1"];
  for (let line = 1; line <= lines; line += 1) {
    for (const speedup of [0, 0.25, 0.5, 0.75, 1]) {
      const noise = 1 + 0.001 * ((line % 11) - 5);
      const duration = Math.round(5e8 * noise * (1 - 0.1 * speedup));
      const selected = `selected=${source}:${line}\tspeedup=${speedup.toFixed(2)}`;
      records.push(`experiment\t${selected}\tduration=${duration}\tselected-samples=50`);
      records.push("throughput-point\tname=step\tdelta=100");
    }
  }
  writeFileSync(path.join(folder, "large.coz"), `${records.join("\n")}\n`);
}

/** The longest task of each round, in milliseconds. */
async function measure(browser, page, picture) {
  const vscode = workbench(page);
  await vscode.ready();
  await vscode.openFile("large.cpp");
  await vscode.command("File: Focus on Files Explorer");
  await vscode.explorerRow("large.coz").dblclick();
  await page.locator(".sidebar .monaco-list-row", { hasText: "large.cpp:" }).first().waitFor();
  await page.locator(".tab", { hasText: "large.cpp" }).click();
  await vscode.goToLine(lines / 2);
  const marks = await until(page, "marks", async () => Object.keys(await vscode.gutterCells()).length);
  await page.screenshot({ path: picture });
  const marked = await several(browser, page, vscode);
  await vscode.command("Fulcrum: Clear Results");
  await until(page, "no marks", async () => Object.keys(await vscode.gutterCells()).length === 0);
  const bare = await several(browser, page, vscode);
  return { marked, bare, marks };
}

async function several(browser, page, vscode) {
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    await vscode.goToLine(lines / 2);
    times.push(await typing(browser, page));
  }
  return times;
}

/** The longest task of the window's thread while the keys are typed, and in the two seconds after them. */
async function typing(browser, page) {
  await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
  for (const text of typed) {
    if (/^(Enter|Backspace)$/.test(text)) {
      await page.keyboard.press(text);
    } else {
      await page.keyboard.type(text, { delay: 40 });
    }
  }
  // The engine answers after the last key. The cost of its answer counts as well.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString("utf8"));
  return longestTask(traceEvents);
}

/** The tasks of the busiest main thread of a page, which is the window's. */
function longestTask(events) {
  const mains = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}:${tid}`),
  );
  const threads = new Map();
  for (const { name, ph, tdur, pid, tid } of events) {
    const thread = `${pid}:${tid}`;
    if (ph === "X" && tdur !== undefined && mains.has(thread) && /RunTask$/.test(name)) {
      const times = threads.get(thread) ?? { sum: 0, most: 0 };
      threads.set(thread, { sum: times.sum + tdur, most: Math.max(times.most, tdur) });
    }
  }
  const [busiest] = [...threads.values()].sort((a, b) => b.sum - a.sum);
  if (busiest === undefined) {
    throw new StepError("Chromium's trace has no page tasks with their CPU time.");
  }
  return busiest.most / 1000;
}

function group(number) {
  return number.toLocaleString("en-US");
}

function report({ marked, bare, marks }) {
  const row = (name, values) => {
    const ms = (value) => `${value.toFixed(0)} ms`;
    return `| ${name} | ${ms(median(values))} | ${ms(Math.min(...values))} | ${ms(Math.max(...values))} |`;
  };
  return [
    "## Typing in a large file",
    "",
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown CPU"}.`,
    "",
    `The CPU time of the longest task of the window's thread while typing in the middle of a file of ${group(lines)} lines, each`,
    `with a result (${marks} on the screen), and while the results come back; ${rounds} rounds. The limit is ${limit} ms.`,
    "",
    "| | median | least | most |",
    "|---|---:|---:|---:|",
    row("with marks", marked),
    row("without", bare),
    "",
    `With marks, it takes ${(median(marked) / median(bare)).toFixed(2)} times as long as without.`,
  ].join("\n");
}
