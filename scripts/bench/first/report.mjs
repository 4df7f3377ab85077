/** A host's table of first verdicts in docs/benchmarks.md. */
import path from "node:path";
import { median } from "../lib/statistics.mjs";

/** @param {{ host: string, programs: any[], journal: import("../lib/journal.mjs").Journal, limit: number }} campaign */
export function firstReport({ host, programs, journal, limit }) {
  const { machine, fulcrum, revision } = journal.get("machine");
  const peers = journal.get("peers");
  const known = programs.filter(({ name }) => journal.get(name) !== undefined);
  const results = known.map(({ name }) => ({ name, ...journal.get(name) }));
  return [
    `## First answers: ${host}`,
    "",
    "Each program was profiled with default options. *First verdict*: the time until the run reported a line that is credibly worth",
    `8 % or more, at most ${limit} s; there is none if no line is worth that much. coz has no verdicts; its time is that until its`,
    "profile had a line with a baseline and four speedups, the least that coz plots.",
    "",
    `| program | first verdict | worth at least | line | ${peers.map(({ title }) => title).join(" | ")} |`,
    `|---|---:|---:|---|${peers.map(() => "---:|").join("")}`,
    ...results.map((result) => row(result, peers)),
    `| ${["**median**", middle(results, "fulcrum"), "", "", ...peers.map(({ key }) => middle(results, key))].join(" | ")} |`,
    "",
    `Measured ${journal.dates()} on ${machine}. ${fulcrum} (${revision}).`,
  ].join("\n");
}

function row(result, peers) {
  const { name, fulcrum } = result;
  const worth = fulcrum === undefined ? "–" : `${Math.floor(100 * fulcrum.atLeast)} %`;
  const line = fulcrum === undefined ? "–" : `\`${path.basename(fulcrum.target)}\``;
  return `| ${[name, after(fulcrum), worth, line, ...peers.map(({ key }) => after(result[key]))].join(" | ")} |`;
}

function after(answer) {
  if (answer?.failure !== undefined) {
    return "did not run";
  }
  return answer === undefined ? "none" : `${answer.seconds.toFixed(1)} s`;
}

/** An answer that never came counts as the longest. */
export function middle(results, key) {
  const value = median(results.map((result) => result[key]?.seconds ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(value) ? `${value.toFixed(1)} s` : "none";
}
