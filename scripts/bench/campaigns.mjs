/**
 * `npm run bench -- campaigns [NAME…] [--resume]`: tests that need statistics, minutes or a quiet machine, each with a time limit
 * and a verdict. NAME is a part of a campaign's name. --resume skips campaigns that have passed on this commit.
 *
 * The engine's campaigns are the targets `tests/campaigns` of its crates, which `cargo test` and the suite leave out
 * (`test = false`); engine/test-groups.json has their limits. Each prints `verdict: ` and its numbers. The editor's campaigns
 * are groups of the UI level that the suite leaves out.
 */
import path from "node:path";
import { bootstrap } from "../bootstrap.mjs";
import { buildCampaigns, listTests, readCampaigns, runTest } from "../lib/engineTests.mjs";
import { root, StepError, seconds, step, tryRun } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { Journal } from "./lib/journal.mjs";

/** The editor's campaigns, with their time limits in seconds. */
const editors = { million: 900 };

/** @typedef {{ name: string, run: () => Promise<{ ok: boolean, ms: number, output: string }> }} Campaign */

export async function bench(args) {
  const resume = args.includes("--resume");
  const parts = args.filter((arg) => arg !== "--resume");
  const all = await campaigns();
  const wanted = all.filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)));
  if (wanted.length === 0) {
    const names = all.map(({ name }) => name);
    throw new StepError(`No campaign is called ${parts.join(" or ")}. Choose among:\n${names.join("\n")}`);
  }
  const commit = (await tryRun("git", ["rev-parse", "HEAD"])).stdout.trim();
  const journal = new Journal("campaigns");
  let failed = 0;
  for (const { name, run } of wanted) {
    const earlier = journal.get(name);
    const done = resume && earlier?.ok && earlier.commit === commit;
    const result = done ? earlier : journal.put(name, { commit, ...(await judged(name, run)) });
    failed += result.ok ? 0 : 1;
    console.log(
      `${result.ok ? "passed" : "FAILED"} ${seconds(result.ms).padStart(8)}  ${name}\n${" ".repeat(17)}${result.verdict}`,
    );
  }
  console.log(`${wanted.length - failed} campaigns passed, ${failed} failed`);
  if (failed > 0) {
    throw new StepError("A campaign failed. Its output is above.");
  }
}

/** @returns {Promise<Campaign[]>} */
async function campaigns() {
  const tests = await step("campaigns", async (say) => listTests(await buildCampaigns(say)));
  const limits = readCampaigns(tests);
  const engines = tests.map((test) => ({ name: test.name, run: () => runTest(test, limits[test.name]) }));
  const level = path.join(root, "test", "editor.mjs");
  const ui = Object.entries(editors).map(([name, limit]) => ({
    name: `editor::${name}`,
    run: () => runEditor([process.execPath, level, `ui/${name}`], limit),
  }));
  return [...engines, ...ui];
}

async function runEditor(command, limit) {
  await bootstrap({ tests: true });
  const start = Date.now();
  const { code, stdout, stderr, late } = await runChild(command, { cwd: root, limit });
  const why = late ? `\nIt was killed at its time limit of ${limit} s.` : "";
  return { ok: code === 0 && !late, ms: Date.now() - start, output: stdout + stderr + why };
}

/** Runs a campaign. Without a verdict, it has failed. */
async function judged(name, run) {
  const { ok, ms, output } = await run();
  const [, verdict] = /^(?:verdict|ui): (.*)$/m.exec(output) ?? [];
  if (!ok) {
    console.error(`${name}\n${output.trimEnd()}`);
  }
  return { ok: ok && verdict !== undefined, ms, verdict: verdict ?? "no verdict" };
}
