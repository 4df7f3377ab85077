/** The section on overhead in docs/benchmarks.md. */

import { variantsOf } from "../lib/samples.mjs";
import { median } from "../lib/statistics.mjs";

/** A sample without a target is measured for its lock calls. */
export function isLockHeavy(sample) {
  return sample.targets.length === 0;
}

export function overheadReport(samples, journal) {
  const rows = samples.flatMap((sample) =>
    variantsOf(sample).flatMap(({ title }) => {
      const value = journal.get(title);
      return value === undefined ? [] : [{ title, ...value, heavy: isLockHeavy(sample) }];
    }),
  );
  const machine = journal.get("machine");
  return [
    "## Overhead",
    "",
    "How much longer a program takes for the same work, by its own clock; medians of interleaved runs, split as in COZ's Figure 9.",
    "*Hooks*: the runtime is loaded. *Sampling*: in addition, samples are taken. *Delays*: in addition, experiments run. *Total* is",
    "with default settings. Some were also run with `--max-overhead`, and did five and ten times the work, because with 3 % the first",
    "experiment begins after 14 s.",
    "",
    ...parts(rows.filter((row) => !row.heavy)),
    "",
    ...costOfBudget(rows.filter((row) => !row.heavy)),
    ...locks(rows.filter((row) => row.heavy)),
    ...startup(journal.get("startup")),
    ...engine(journal.get("engine")),
    machine === undefined
      ? ""
      : `Measured ${journal.dates()} on ${machine.machine}. ${machine.fulcrum} (${machine.revision}), ${machine.coz}.`,
  ].join("\n");
}

/** How much longer than alone, as a fraction; `undefined` if it was not measured. */
export function overhead(row, name) {
  const [alone, with_] = [row.seconds.alone, row.seconds[name]];
  return alone === undefined || with_ === undefined ? undefined : median(with_) / median(alone) - 1;
}

/** The parts of a row's overhead. Each is what its configuration adds to the one before. */
export function split(row) {
  const [hooks, sampling, full] = ["hooks", "sampling", "full"].map((name) => overhead(row, name));
  const less = (a, b) => (a === undefined || b === undefined ? undefined : a - b);
  return {
    hooks,
    sampling: less(sampling, hooks),
    delays: less(full, sampling),
    full,
    budget10: overhead(row, "budget10"),
    budget3: overhead(row, "budget3"),
    coz: overhead(row, "coz"),
  };
}

const columns = ["hooks", "sampling", "delays", "full", "budget10", "budget3", "coz"];

function parts(rows) {
  const split_ = rows.map((row) => ({ row, parts: split(row) }));
  const medians = columns.map((column) => {
    const values = split_.map(({ parts }) => parts[column]).filter((value) => value !== undefined);
    return values.length === 0 ? "–" : percent(median(values));
  });
  return [
    "| sample | hooks | sampling | delays | total | `--max-overhead 10%` | `3%` | coz |",
    "|---|---:|---:|---:|---:|---:|---:|---:|",
    ...split_.map(
      ({ row, parts }) => `| ${row.title} | ${columns.map((column) => cell(row, parts, column)).join(" | ")} |`,
    ),
    `| **median** | ${medians.join(" | ")} |`,
  ];
}

function cell(row, parts, column) {
  return parts[column] === undefined ? failure(row, column) : percent(parts[column]);
}

function failure(row, name) {
  return row.failures[name] === undefined ? "–" : "did not run";
}

/** Fulcrum's failures, with their full messages. */
export function failures(samples, journal) {
  return samples.flatMap((sample) =>
    variantsOf(sample).flatMap(({ title }) =>
      Object.entries(journal.get(title)?.failures ?? {})
        .filter(([name]) => name !== "coz")
        .map(([name, message]) => `${title}, ${name}: ${message}`),
    ),
  );
}

/** With an overhead limit there are fewer experiments per second, so a run must be longer. */
function costOfBudget(rows) {
  const limited = rows.filter((row) => row.experiments.budget3 !== undefined);
  const rate = (name) => {
    const values = limited.flatMap((row) => row.experiments[name] ?? []);
    return values.length === 0 ? undefined : median(values);
  };
  const [full, ten, three] = ["full", "budget10", "budget3"].map(rate);
  if (full === undefined || ten === undefined || three === undefined) {
    return [];
  }
  const text = `Experiments a second of those, median: ${full.toFixed(1)} at default settings, ${ten.toFixed(1)} with`;
  return [`${text} \`--max-overhead 10%\`,`, `${three.toFixed(1)} with \`3%\`: a lower limit needs a longer run.`, ""];
}

function locks(rows) {
  if (rows.length === 0) {
    return [];
  }
  const heavy = ["hooks", "sampling", "full", "budget10", "budget3", "coz"];
  return [
    "SQLite, with eight threads that insert into tables of their own (`samples/sqlite-inserts`). Total overhead:",
    "",
    "| | lock calls a second | hooks | and sampling | default | `--max-overhead 10%` | `3%` | coz |",
    "|---|---:|---:|---:|---:|---:|---:|---:|",
    ...rows.map((row) => {
      const cells = heavy.map((name) => {
        const value = overhead(row, name);
        return value === undefined ? failure(row, name) : percent(value);
      });
      return `| ${row.title} | ${(row.locksPerSecond / 1e6).toFixed(1)} million | ${cells.join(" | ")} |`;
    }),
    "",
  ];
}

function startup(value) {
  if (value === undefined) {
    return [];
  }
  const ms = (values) => (values.length === 0 ? "not installed" : `${median(values).toFixed(0)} ms`);
  return [
    "Startup: from the command to `main`, including reading the debug information.",
    "",
    "| debug information | alone | Fulcrum | coz |",
    "|---:|---:|---:|---:|",
    ...Object.values(value).map(
      ({ debugBytes, ms: { alone, fulcrum, coz } }) =>
        `| ${(debugBytes / 1e6).toFixed(2)} MB | ${ms(alone)} | ${ms(fulcrum)} | ${ms(coz)} |`,
    ),
    "",
  ];
}

function engine(value) {
  if (value === undefined) {
    return [];
  }
  const shares = Object.entries(value).map(
    ([name, { seconds, engine }]) => `${percent(engine / seconds)} beside ${name} (${seconds.toFixed(0)} s)`,
  );
  return [`The engine's own processor time, of one processor's: ${shares.join(", ")}.`, ""];
}

function percent(fraction) {
  const text = (fraction * 100).toFixed(1);
  return `${text === "-0.0" ? "0.0" : text.replace("-", "−")} %`;
}
