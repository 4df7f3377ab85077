/** The section of docs/benchmarks.md on transactional profiling. */
import { speedup } from "../lib/statistics.mjs";

export function report(servers, journal, notes) {
  const { machine, revision } = journal.get("machine");
  const measured = servers.filter(({ name }) => journal.get(name) !== undefined);
  const rows = measured.map(({ name }) => row(name, journal.get(name)));
  const differences = measured.flatMap(({ name }) => {
    const all = journal.get(name).differences;
    return [...new Set(all)].map((difference) => `- ${name}: ${difference}`);
  });
  const flows = measured.flatMap(({ name }) => {
    const { flowed } = journal.get(name);
    return Object.entries(flowed).map(([flow, count]) => `- ${name}: ${count} × ${flow}`);
  });
  return `## Transactional profiling of servers

${machine}; ${revision}; ${journal.dates()}. The servers are the distribution's, unchanged. Each round starts the server
alone, recorded by \`fulcrum transactions run\`, and under \`perf record\` at Fulcrum's first rate with copied stacks, in turn. The clients run
on the same two processors. A cost is how much longer the same requests took than alone in the same round: the median over the rounds,
with half the width of its 95 % interval. *Named* are requests that were found as a transaction of the right type.

| server | requests | named | recorded | perf record |
| --- | --: | --: | --: | --: |
${rows.join("\n")}
${[...differences, ...notes.map((note) => `- ${note}`)].join("\n")}

What flowed through shared memory in all recorded rounds together. Each connection that a listener of Apache's pushes is one flow;
with the event MPM it is pushed once more when it lingers.

${flows.join("\n")}`;
}

function row(name, { seconds, sent, differences }) {
  const { alone, recorded, perf } = seconds;
  const named = differences.length === 0 ? "all" : "not all, see below";
  return `| ${name} | ${sent} | ${named} | ${cost(alone, recorded)} | ${perf === undefined ? "–" : cost(alone, perf)} |`;
}

function cost(alone, with_) {
  const { value, spread } = speedup(alone, with_);
  return `${(-100 * value).toFixed(1)} % ± ${(100 * spread).toFixed(1)}`;
}
