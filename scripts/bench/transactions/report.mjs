/** The section of docs/benchmarks.md on transactional profiling. */
import { byWindow, cost } from "./beside.mjs";
import { keptLines } from "./kept.mjs";

/**
 * @param {{ name: string }[]} servers
 * @param {import("../lib/journal.mjs").Journal} journal
 * @param {string[]} notes
 * @param {string} before the document, whose rows of other servers stay
 */
export function report(servers, journal, notes, before) {
  const { machine } = journal.get("machine");
  const measured = servers.filter(({ name }) => journal.get(name) !== undefined);
  const names = measured.map(({ name }) => name);
  const kept = keptLines(before, names);
  const rows = measured.map(({ name }) => row(name, journal.get(name)));
  // What is not here now may have been measured before.
  const isKept = (note) => kept.rows.some((line) => note.startsWith(line.slice(2).split(" |")[0] ?? ""));
  const missing = notes.filter((note) => !isKept(note)).map((note) => `- ${note}`);
  const differences = measured.flatMap(({ name }) => {
    const all = journal.get(name).differences;
    return [...new Set(all)].map((difference) => `- ${name}: ${difference}`);
  });
  const flows = measured.flatMap(({ name }) => {
    const { flowed } = journal.get(name);
    return Object.entries(flowed).map(([flow, count]) => `- ${name}: ${count} × ${flow}`);
  });
  return `## Transactional profiling of servers

The newest rows are of this machine: ${machine}. Where only some servers were measured again, the rows of the others stay; each row
says at which commit, when and on which kernel. The servers are the distribution's, unchanged. *Named* are requests that were found as
a transaction of the right type while everything was recorded (\`--no-pauses\`).

Costs are measured with two servers side by side, one alone and one under \`fulcrum transactions run\`, which are asked by short loads
in turn, on the same two processors as the clients. A cost is how much longer all requests together took, with half the width of
its 95 % interval. When recording costs a busy server more than 3 %, it pauses: *in the long run* is the cost from the first pause on,
with the share of the time that is recorded; *while recording* and *in pauses* are its parts. \`perf record\` runs at Fulcrum's first
rate with copied stacks.

| server | requests | named | in the long run | recorded | while recording | in pauses | perf record | measured |
| --- | --: | --: | --: | --: | --: | --: | --: | --- |
${[...kept.rows, ...rows].join("\n")}
${[...differences, ...missing].join("\n")}

What flowed through shared memory in the rounds in which everything was recorded. Each connection that a listener of Apache's pushes is
one flow; with the event MPM it is pushed once more when it lingers.

${[...kept.flows, ...flows].join("\n")}`;
}

function row(name, { sent, differences, pairs, windows, underPerf, measured }) {
  const { settled, recorded, paused, share } = byWindow(pairs, windows);
  const named = differences.length === 0 ? "all" : "not all, see below";
  const costs = [settled, recorded, paused, underPerf ?? []].map((it) => (it.length < 2 ? "–" : text(cost(it))));
  const [inTheLongRun, ...others] = costs;
  return `| ${[name, sent, named, inTheLongRun, `${(100 * share).toFixed(0)} %`, ...others, measured].join(" | ")} |`;
}

function text({ value, spread }) {
  return `${value.toFixed(1)} % ± ${spread.toFixed(1)}`;
}
