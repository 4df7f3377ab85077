/** docs/accuracy.md. */
import { speedup } from "../lib/statistics.mjs";
import { summarise } from "./compare.mjs";

/** One line for the terminal. */
export function summaryLine(rows) {
  const ours = summarise(rows, "fulcrum");
  const cozs = summarise(rows, "coz");
  const text = (name, of) =>
    of === undefined ? `${name}: nothing` : `${name}: mean error ${points(of.mean)} points over ${of.cells} cells`;
  const inside = ours === undefined ? "" : `, ${share(ours)} inside the interval`;
  return `${text("Fulcrum", ours)}${inside}; ${text("coz", cozs)}.`;
}

export function accuracyReport(all, samples, journal) {
  const machine = journal.get("machine");
  const rows = all.filter((row) => row.actual ?? row.fulcrum ?? row.coz);
  const missing = samples.filter(({ name }) => !rows.some((row) => row.sample === name));
  const measured = samples.filter((sample) => !missing.includes(sample));
  return [
    "## Predicted and actual",
    "",
    "The program's speedup when 25, 50 and 75 % of a target's work is left out. *Actual* was measured: the work was really left",
    "out, in rounds of interleaved runs. It is 1 − time per unit after ÷ before (for `requests`: of the latency), the median over",
    "the rounds, ± half of a 95 % bootstrap interval. *Predicted* comes from one Fulcrum run for each target, with its 95 %",
    "interval, at most 60 s for each sample. *Inside* means that this interval contains the actual value. coz gets one run for each",
    "speedup with a fixed target, about 26 s for each sample. Errors are in percentage points.",
    "",
    ...summaryTable(rows, measured),
    ...(missing.length > 0 ? ["", `Not measured yet: ${missing.map(({ name }) => name).join(", ")}.`] : []),
    "",
    ...cellTable(rows),
    "",
    ...fixes(samples, journal),
    ...misses(rows),
    machine === undefined ? "" : `Measured ${journal.dates()} on ${machine.machine}, perf_event_paranoid`,
    machine === undefined
      ? ""
      : `${machine.paranoid}. ${machine.fulcrum} (${machine.revision}), ${machine.coz}, ${machine.compilers}.`,
  ].join("\n");
}

function summaryTable(rows, samples) {
  const line = (name, of) => {
    const [ours, cozs] = [summarise(of, "fulcrum"), summarise(of, "coz")];
    const cells = [
      ours && points(ours.mean),
      ours && points(ours.worst),
      ours && share(ours),
      cozs && points(cozs.mean),
    ];
    return `| ${name} | ${cells.map((cell) => cell ?? "–").join(" | ")} |`;
  };
  return [
    "| sample | mean error | worst | inside | coz: mean error |",
    "|---|---:|---:|---:|---:|",
    ...samples.map(({ name }) =>
      line(
        name,
        rows.filter((row) => row.sample === name),
      ),
    ),
    line("**all**", rows),
    ...both(rows, line),
  ];
}

/** coz does not run everywhere: beside its mean, ours over the same cells. */
function both(rows, line) {
  const shared = rows.filter((row) => row.coz?.error !== undefined && row.fulcrum?.error !== undefined);
  return shared.length > 0 && shared.length < rows.length ? [line("**all where coz runs too**", shared)] : [];
}

function cellTable(rows) {
  return [
    "| sample | target | speedup | actual | predicted | error | inside | coz | error |",
    "|---|---|---:|---:|---:|---:|:-:|---:|---:|",
    ...rows.map((row) => {
      const actual = row.actual && `${percent(row.actual.value)} ± ${points(row.actual.spread)}`;
      const mark = row.fulcrum?.inside === undefined ? "" : row.fulcrum.inside ? "yes" : "**no**";
      const errors = [row.fulcrum, row.coz].map((cell) => (cell?.error === undefined ? "" : points(cell.error)));
      const cells = [row.sample, row.target, `${row.percent} %`, actual ?? "not measured", predicted(row.fulcrum)];
      return `| ${[...cells, errors[0], mark, predicted(row.coz, false), errors[1]].join(" | ")} |`;
    }),
  ];
}

function predicted(cell, interval = true) {
  if (cell === undefined) {
    return "not measured";
  }
  if (cell.failure !== undefined) {
    return short(cell.failure);
  }
  const known = interval && cell.low !== null && cell.high !== null;
  return `${percent(cell.value)}${known ? ` (${percent(cell.low)}…${percent(cell.high)})` : ""}`;
}

/** What a sample's repair really brings. */
function fixes(samples, journal) {
  const lines = samples.flatMap((sample) => {
    const costs = journal.get(`${sample.name}/truth`)?.costs;
    if (sample.fix === undefined || costs?.fix === undefined) {
      return [];
    }
    const { value, spread } = speedup(costs.full, costs.fix);
    return [`- \`${sample.name}\`, ${sample.fix}: ${percent(value)} ± ${points(spread)}`];
  });
  return lines.length > 0
    ? ["What the fix that the profile suggests really gains (`SAMPLE_FIX=1`):", "", ...lines, ""]
    : [];
}

/** Samples whose truth is not what their arithmetic says: a disturbed machine, or a wrong sample. */
function misses(rows) {
  const odd = rows.filter(
    ({ actual, theory }) =>
      actual !== undefined && theory !== undefined && Math.abs(actual.value - theory / 100) > 0.04 + actual.spread,
  );
  const lines = odd.map(
    (row) =>
      `- \`${row.sample}\`, ${row.target} at ${row.percent} %: ${percent(row.actual.value)}, not ${row.theory} %`,
  );
  return lines.length > 0
    ? ["Measured truths that are far from what the sample's arithmetic says:", "", ...lines, ""]
    : [];
}

function percent(fraction) {
  const text = (fraction * 100).toFixed(1);
  return `${text === "-0.0" ? "0.0" : text.replace("-", "−")} %`;
}

function points(fraction) {
  return (fraction * 100).toFixed(1);
}

function share({ inside, cells }) {
  return `${Math.round((100 * inside) / cells)} %`;
}

function short(text) {
  const line = text.replaceAll("|", "\\|").split("\n")[0];
  return line.length > 70 ? `${line.slice(0, 69)}…` : line;
}
