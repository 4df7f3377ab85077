/** A host's section of docs/accuracy.md. */
import { mean, speedup } from "../lib/statistics.mjs";
import { summarise } from "./compare.mjs";
import { repeats } from "./leftOut.mjs";

/**
 * @typedef {object} Campaign
 * @property {import("./compare.mjs").Row[]} rows
 * @property {any[]} programs
 * @property {{ key: string, title: string }[]} peers
 * @property {import("../lib/journal.mjs").Journal} journal
 * @property {(sample: any, part: string) => any} results
 */

/** One line for the terminal. */
export function summaryLine(rows, peers) {
  const ours = summarise(rows, "fulcrum");
  const text = (name, of) =>
    of === undefined ? `${name}: nothing` : `${name}: mean error ${points(of.mean)} points over ${of.cells} cells`;
  const inside = ours === undefined ? "" : `, ${share(ours)} inside the interval`;
  const others = peers.map(({ key, title }) => text(title, summarise(rows, key)));
  return `${[`${text("Fulcrum", ours)}${inside}`, ...others].join("; ")}.`;
}

/** @param {Campaign} campaign */
export function accuracyReport({ rows: all, programs, peers, journal, results }) {
  const measured = (row) =>
    [row.actual, row.fulcrum, ...peers.map(({ key }) => row[key])].some((it) => it !== undefined);
  const rows = all.filter(measured);
  const there = programs.filter(({ name }) => rows.some((row) => row.sample === name));
  const machine = journal.get("machine");
  return [
    `### ${journal.get("host")}`,
    "",
    ...summaryTable(rows, there, peers, results),
    ...absent(programs, there, journal),
    "",
    ...cellTable(rows, peers),
    "",
    ...fixes(there, results),
    ...misses(rows),
    `Measured ${journal.dates()} on ${machine.machine}, perf_event_paranoid`,
    `${machine.paranoid}. ${machine.fulcrum} (${machine.revision}), ${peers.map(({ title }) => title).join(", ") || "without coz"}, ${machine.compilers}.`,
  ].join("\n");
}

function summaryTable(rows, programs, peers, results) {
  const line = (name, of, placebo) => {
    const ours = summarise(of, "fulcrum");
    const cells = [
      ours && points(ours.mean),
      ours && points(ours.worst),
      ours && share(ours),
      placebo === undefined ? undefined : signed(placebo),
      ...peers.map(({ key }) => summarise(of, key)).map((it) => it && points(it.mean)),
    ];
    return `| ${[name, ...cells.map((cell) => cell ?? "–")].join(" | ")} |`;
  };
  const errors = programs.map((sample) => placeboOf(sample, results));
  const known = errors.filter((it) => it !== undefined);
  const lines = programs.map(({ name }, number) =>
    line(
      name,
      rows.filter((row) => row.sample === name),
      errors[number],
    ),
  );
  const columns = [
    "program",
    "mean error",
    "worst",
    "inside",
    "placebos",
    ...peers.map(({ title }) => `${title}: mean error`),
  ];
  return [
    `| ${columns.join(" | ")} |`,
    `|---|---:|---:|---:|---:|${peers.map(() => "---:|").join("")}`,
    ...lines,
    line(`**all ${programs.length}**`, rows, known.length === 0 ? undefined : mean(known)),
    ...clean(rows, line),
    ...counted(rows, programs, line),
    ...peers.flatMap(({ key, title }) => both(rows, key, title, line)),
  ];
}

/** What a program's placebos still seem to gain after correction, over its targets; a fraction. */
function placeboOf(sample, results) {
  const all = Object.values(results(sample, "fulcrum") ?? {}).flatMap(({ placebo }) => placebo ?? []);
  const count = all.reduce((sum, it) => sum + it.count, 0);
  return count === 0 ? undefined : all.reduce((sum, it) => sum + it.after * it.count, 0) / count;
}

/** Without the rows where leaving out work also changed the rest of the program. */
function clean(rows, line) {
  const alone = rows.filter((row) => row.elsewhere === undefined);
  return alone.length < rows.length ? [line("**where the rest stays as it is**", alone)] : [];
}

/** Without the rows of which nobody knows how much was left out: there, a prediction is compared with another speedup's gain. */
function counted(rows, programs, line) {
  const repeating = new Set(programs.filter(repeats).map(({ name }) => name));
  const known = rows.filter((row) => row.leftOut !== undefined || !repeating.has(row.sample));
  return known.length < rows.length ? [line("**where what was left out is known**", known)] : [];
}

/** coz does not run everywhere: beside its mean, ours over the same cells. */
function both(rows, key, title, line) {
  const shared = rows.filter((row) => row[key]?.error !== undefined && row.fulcrum?.error !== undefined);
  return shared.length > 0 && shared.length < rows.length ? [line(`**where ${title} runs too**`, shared)] : [];
}

/** Programs that are not in the table, and why. */
function absent(programs, there, journal) {
  const others = programs.filter((sample) => !there.includes(sample));
  const why = others.flatMap(({ name }) => {
    const reason = journal.get(`${name}/missing`);
    return reason === undefined ? [] : [`- \`${name}\`: ${reason.replaceAll(/(?:\/[\w.@+-]+)+\//g, "")}`];
  });
  const rest = others.filter(({ name }) => journal.get(`${name}/missing`) === undefined).map(({ name }) => name);
  return [
    ...(rest.length > 0 ? ["", `Not measured: ${rest.join(", ")}.`] : []),
    ...(why.length > 0 ? ["", "Could not be built:", "", ...why] : []),
  ];
}

function cellTable(rows, peers) {
  const columns = peers.map(({ title }) => `${title} | error`);
  return [
    `| ${["program", "target", "speedup", "left out", "actual", "predicted", "error", "inside", ...columns].join(" | ")} |`,
    `|---|---|---:|---:|---:|---:|---:|:-:|${peers.map(() => "---:|---:|").join("")}`,
    ...rows.map((row) => {
      const actual = row.actual && `${percent(row.actual.value)} ± ${points(row.actual.spread)}`;
      const rest = row.elsewhere === undefined ? "" : `, rest ${signed(row.elsewhere)}`;
      const mark = `${inside(row.fulcrum)}${rest}`;
      const error = (cell) => (cell?.error === undefined ? "" : points(cell.error));
      const theirs = peers.flatMap(({ key }) => [predicted(row[key], false), error(row[key])]);
      const left = row.leftOut === undefined ? "" : percent(row.leftOut);
      const ours = [row.sample, row.target, `${row.percent} %`, left, actual ?? "not measured", predicted(row.fulcrum)];
      return `| ${[...ours, error(row.fulcrum), mark, ...theirs].join(" | ")} |`;
    }),
  ];
}

function inside(cell) {
  return cell?.inside === undefined ? "" : cell.inside ? "yes" : "**no**";
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
function fixes(programs, results) {
  const lines = programs.flatMap((sample) => {
    const costs = results(sample, "truth")?.costs;
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

/** In points, with its sign. */
function signed(fraction) {
  const text = points(Math.abs(fraction));
  return text === "0.0" ? text : `${fraction < 0 ? "−" : "+"}${text}`;
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
