/** The section on bottleneck search in docs/benchmarks.md. */
import { median, percentile } from "../lib/statistics.mjs";

export function pathsReport(journal) {
  const machine = journal.get("machine");
  return [
    "## Bottleneck search",
    "",
    "Synthetic profiles (`engine/crates/synthetic`) with the same node counts as in the paper's Tables 1 and 5, and with planted",
    "bottlenecks. Samples are shuffled.",
    "",
    ...loading(journal.get("loading")),
    ...navigation(journal.get("navigation")),
    ...flame(journal.get("flame")),
    ...automatic(journal.get("automatic"), journal.get("automatic time")),
    machine === undefined
      ? ""
      : `Measured ${journal.dates()} on ${machine.machine}. ${machine.fulcrum} (${machine.revision}).`,
  ].join("\n");
}

function loading(value) {
  if (value === undefined) {
    return [];
  }
  const { results, peers } = value;
  const of = (title, key) => median(results[title].map((it) => it[key]));
  const row = (what, ours, theirs, wanted) => {
    const cells = ["seconds", "megabytes"].map((key) => [of(ours, key), of(theirs, key)]);
    const [time, memory] = cells;
    const ratio = ([a, b]) => `${((100 * a) / b).toFixed(1)} %`;
    const seconds = time.map((it) => `${it.toFixed(2)} s`).join(" | ");
    const megabytes = memory.map((it) => `${it.toFixed(0)} MB`).join(" | ");
    return `| ${what} | ${seconds} | ${ratio(time)} | ${megabytes} | ${ratio(memory)} | ${wanted} |`;
  };
  return [
    "Loading and listing functions (`fulcrum profile top`): the whole command, medians of interleaved rounds. The first two rows are",
    "SPECjAppServer2002's tree (1,096,416 nodes); the third compares Trade3's trees (480,994 and 413,637 nodes).",
    ...(results["fulcrum real"] === undefined
      ? []
      : ["The last one is a real profile, of pprof's own tests (425,051 nodes)."]),
    "",
    "| | Fulcrum | peer | | Fulcrum | peer | | wanted |",
    "|---|---:|---:|---:|---:|---:|---:|---|",
    row("pprof, against `pprof -top`", "fulcrum pprof", "pprof pprof", "10 % of the time, 25 % of the memory"),
    row("folded, against `inferno-flamegraph`", "fulcrum folded", "inferno folded", "50 % of both"),
    row("pprof, against `pprof -top -diff_base`", "fulcrum compared", "pprof compared", ""),
    ...(results["fulcrum real"] === undefined
      ? []
      : [row("a real one, against `pprof -top`", "fulcrum real", "pprof real", "10 % of the time")]),
    "",
    `Peers: pprof of ${peers.pprof}; ${peers.inferno}.`,
    "",
  ];
}

function navigation(value) {
  if (value === undefined) {
    return [];
  }
  return [
    "Ten million nodes, a random walk of commands: `fulcrum navigate --json` through a pipe, from the command to the end of its",
    `answer, with up to 20 labels. Loading took ${value.seconds.toFixed(1)} s and all of it at most ` +
      `${(value.megabytes / 1000).toFixed(2)} GB. 5 s are wanted.`,
    ...firstMoments("commands", value.early),
    "",
    ...answers("command", value.times),
  ];
}

/** What comes right after loading competes with the threads that prepare the rest: told apart. */
function firstMoments(what, times) {
  const all = Object.values(times).flat();
  const slowest = Math.max(...all).toFixed(0);
  return [
    `In the first moment, what later answers need of the whole tree is still being found out: of the first ${all.length} ${what},`,
    `one right after the other, the slowest took ${slowest} ms. The table is of what is asked for three seconds later.`,
  ];
}

/** A table of how long answers took. */
function answers(what, times) {
  const ms = (number) => `${number.toFixed(number < 10 ? 1 : 0)} ms`;
  const rows = Object.entries(times).map(
    ([kind, each]) =>
      `| ${kind} | ${each.length} | ${ms(median(each))} | ${ms(percentile(each, 0.99))} | ${ms(Math.max(...each))} | ` +
      "16 ms |",
  );
  const head = [
    `| ${what} | times | median | 99th percentile | most | wanted of 99 % |`,
    "|---|---:|---:|---:|---:|---:|",
  ];
  return [...head, ...rows, ""];
}

function flame(value) {
  if (value === undefined) {
    return [];
  }
  return [
    "Flame graphs of the same ten million nodes, as an editor requests them: `fulcrum/navigator/flame` of the language server, with",
    "boxes of at least one pixel on a screen 1920 wide. Boxes are chosen at random; paths have one to four names, 20 get a label.",
    ...firstMoments("requests", value.early),
    "",
    ...answers("request", value.times),
  ];
}

const titles = { trade3: "Trade3", xml: "XML", specj: "SPECjAppServer2002" };

/** Of the paper's expert: Tables 2 and 6. */
const expert = { trade3: "82.7 % (14, 14 names)", xml: "88.7 % (13, 6.2 names)", specj: "35.8 % (13, 8.7 names)" };

function automatic(rows, times) {
  if (rows === undefined || times === undefined) {
    return [];
  }
  const percent = (fraction) => `${(100 * fraction).toFixed(1)} %`;
  const cpu = Object.entries(times).map(([kind, each]) => {
    const spent = median(each.map((it) => it.cpu));
    return `${titles[kind]} ${spent.toFixed(0)} ms`;
  });
  return [
    "Automatic search (`fulcrum suggest --auto`). *Named*: how many of the fourteen largest planted sequences have a unique name in a",
    "result. *Overlap*: how much more the results cost one by one than together. The paper's expert worked on other profiles of",
    "the same shape, whose true bottlenecks are not known.",
    "",
    "| profile | seed | sequences | coverage | names | overlap | named | the paper's expert |",
    "|---|---:|---:|---:|---:|---:|---:|---|",
    ...rows.map(
      (row) =>
        `| ${titles[row.kind]} | ${row.seed}${row.tuned ? ", tuned on" : ""} | ${row.sequences} | ${percent(row.coverage)} | ` +
        `${row.length.toFixed(1)} | ${percent(row.overlap)} | ${row.named} of 14 | ${expert[row.kind]} |`,
    ),
    "",
    `Processor time, medians: ${cpu.join(", ")}.`,
    "",
  ];
}
