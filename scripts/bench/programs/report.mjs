/** The table of docs/programs.md. */
import path from "node:path";
import { median } from "../lib/statistics.mjs";

export function report(programs, journal) {
  const { machine, fulcrum, revision, compilers, load } = journal.get("machine");
  const known = programs.filter(({ name }) => journal.get(name) !== undefined);
  const rows = known.map(({ name }) => row(name, journal.get(name)));
  const missing = known.flatMap(({ name }) => {
    const { missing } = journal.get(name);
    return missing === undefined ? [] : [`- ${name} was not available: ${missing}`];
  });
  const notes = known.flatMap(({ name }) => told(name, journal.get(name).notes ?? []));
  return `${machine}; ${fulcrum}, ${revision}; ${compilers}; ${journal.dates()}. The load
average was ${load.toFixed(1)} when it began.

| program | as alone | progress point | first verdict | worth at least | best function, if it took half its time | what its fix gained |
| --- | --- | --- | --: | --- | --- | --- |
${rows.join("\n")}

${worthAtLeast(known.map(({ name }) => journal.get(name)))}

${[...missing, ...notes].join("\n")}`;
}

function row(name, { missing, differences, recorded, verdict, worth, progress, best, repair }) {
  if (missing !== undefined) {
    return `| ${name} | – | – | – | – | – | – |`;
  }
  const alone = differences.length === 0 ? `yes${answers(recorded)}` : differences.join("; ");
  const points = progress.length === 0 ? "whole runs" : progress.map((it) => `\`${it}\``).join(", ");
  const first = verdict === undefined ? "none" : `${verdict.toFixed(0)} s`;
  const lines = best.map((it) => line(it, best.length > 1));
  return `| ${name} | ${alone} | ${points} | ${first} | ${worthOf(worth)} | ${lines.join("<br>") || "–"} | ${repaired(repair)} |`;
}

/** The gain of a known fix, measured without the profiler. */
function repaired(repair) {
  return repair === undefined
    ? "–"
    : `${percent(repair.value)} % ± ${(100 * repair.spread).toFixed(1)}: ${repair.what}`;
}

/** What the run reported while it ran: `6 s: 11 %, \`f\``. */
function worthOf(worth) {
  if (worth === undefined) {
    return "–";
  }
  const name = worth.target.replace(/^(?:function|inclusive):/, "").replace(/@.*/, "");
  return `${worth.seconds.toFixed(0)} s: ${Math.floor(100 * worth.atLeast)} %, \`${path.basename(name)}\``;
}

function worthAtLeast(rows) {
  const seconds = rows.flatMap(({ worth }) => (worth === undefined ? [] : [worth.seconds]));
  const told = seconds.length === 0 ? "" : `, after ${median(seconds).toFixed(0)} s in the median`;
  return `*Worth at least* is a run's first verdict: as soon as one function is credibly worth something, the run says what the program
gains at least if that function is twice as fast. ${seconds.length} of
${rows.length} runs had a first verdict${told}.`;
}

function answers({ right }) {
  return right === undefined ? "" : `, ${right} answers`;
}

function line({ point, target, line, gain, low, high, known }, several) {
  const place = `${several ? `${point}: ` : ""}\`${target}\` (${path.basename(line)})`;
  const interval = low === null || high === null ? "?" : `${percent(low)} to ${percent(high)}`;
  return `${place} ${percent(gain)} % (${interval})${known ? "" : ", not known yet"}`;
}

function percent(fraction) {
  return `${fraction < 0 ? "−" : "+"}${Math.abs(100 * fraction).toFixed(1)}`;
}

/** A run's notes, without this machine's paths, and without the note that visits are counted by a jump. */
function told(name, notes) {
  const news = notes.filter((note) => !note.includes("are counted by a jump to a counter"));
  const plain = news.map((note) => note.replaceAll(/(?:\/[\w.@+-]+)+\//g, ""));
  return plain.map((note) => `- ${name}: ${note}`);
}
