/** The section of docs/benchmarks.md, and the requirements that are not met. */
import { median } from "../lib/statistics.mjs";
import { refineFailures } from "./refine.mjs";

/** The limits for a monitored call: nanoseconds, and the fraction of its cost with Kieker. */
const limit = { ns: 100, ofKieker: 0.25 };

export function report(journal) {
  const { machine, fulcrum, revision } = journal.get("machine");
  const calls = journal.get("calls");
  const rows = journal.get("libraries");
  const kills = journal.get("kills");
  return [
    "## Event traces of Java programs",
    `${journal.dates()}, ${fulcrum} (${revision}), ${machine}.`,
    ...(calls === undefined ? [] : [callsTable(calls)]),
    ...(rows === undefined ? [] : [librariesTable(rows)]),
    ...(kills === undefined ? [] : [killsText(kills)]),
  ].join("\n\n");
}

/** What a tool adds to a call: the median over rounds of its time minus the time without a tool in the same round. */
function costs(calls) {
  return calls
    .filter(({ tool, ns }) => tool !== "none" && !ns.includes(null))
    .map((row) => {
      const alone = calls.find(({ tool, jdk }) => tool === "none" && jdk === row.jdk);
      const added = row.ns.map((ns, round) => ns - alone.ns[round]);
      return { ...row, median: median(added), least: Math.min(...added), most: Math.max(...added) };
    });
}

function callsTable(calls) {
  const rows = costs(calls).map(
    ({ tool, jdk, median, least, most }) =>
      `| ${tool} | ${jdk} | ${median.toFixed(1)} | ${least.toFixed(1)} to ${most.toFixed(1)} |`,
  );
  return [
    `The cost of a traced call, entry and exit together. JMH calls a method that does almost nothing; each tool has a virtual machine
of its own; ${calls[0].ns.length} interleaved rounds. Fulcrum logs two events with wall and CPU time, and on
demand what the call was given and returned; Kieker logs one record with wall time, the others a
stack. Kieker and the others write with default settings: when calls are faster than Kieker's writer, they wait for it.`,
    ["| tool | JDK | ns, median | range over rounds |", "| --- | --- | ---: | ---: |", ...rows].join("\n"),
    ...calls.filter(({ ns }) => ns.includes(null)).map(({ tool, jdk }) => `On JDK ${jdk}, ${tool} does not run.`),
  ].join("\n\n");
}

function librariesTable(rows) {
  const lines = rows.map(
    ({ name, jdk, methods, calls, unbalanced, same, notes }) =>
      `| ${name} | ${jdk} | ${methods.toLocaleString("en")} | ${calls.toLocaleString("en")} | ${unbalanced} | ${same ? "yes" : "no"} | ${notes.length} |`,
  );
  return [
    "Libraries with probes in all their methods, under `-Xverify:all`. *Notes*: methods without probes, because HotSpot would not compile them with probes.",
    [
      "| library | JDK | methods called | calls | unbalanced | output and status unchanged | notes |",
      "| --- | --- | ---: | ---: | ---: | --- | ---: |",
      ...lines,
    ].join("\n"),
  ].join("\n\n");
}

function killsText(kills) {
  const events = kills.map((kill) => kill.events);
  const bad = kills.filter(({ complaints }) => complaints.length > 0);
  return `H2 killed by \`kill -9\` at ${kills.length} random moments: \`events stats\`, \`tree\` and \`list\` read
${kills.length - bad.length} logs to their end, with ${Math.min(...events).toLocaleString("en")} to ${Math.max(...events).toLocaleString("en")} events.`;
}

/** What failed, as sentences. */
export function failures(journal) {
  const failed = [];
  const all = costs(journal.get("calls") ?? []);
  const ours = all.filter(({ tool }) => tool === "Fulcrum");
  const [kieker] = all.filter(({ tool }) => tool.startsWith("Kieker")).sort((a, b) => a.median - b.median);
  for (const { jdk, median: ns } of ours) {
    if (ns > limit.ns) {
      failed.push(`A monitored call costs ${ns.toFixed(1)} ns on JDK ${jdk}: at most ${limit.ns} are allowed.`);
    }
    if (kieker?.jdk === jdk && ns > limit.ofKieker * kieker.median) {
      failed.push(
        `A monitored call costs ${ns.toFixed(1)} ns on JDK ${jdk}, more than a quarter of Kieker's ${kieker.median.toFixed(1)}.`,
      );
    }
  }
  for (const { name, jdk, same, unbalanced, status, difference } of journal.get("libraries") ?? []) {
    if (!same || unbalanced !== 0 || status !== 0) {
      failed.push(
        `${name} on JDK ${jdk}: status ${status}, ${unbalanced} unbalanced calls, ${same ? "same" : "other"} output. ${difference ?? ""}`,
      );
    }
  }
  for (const { milliseconds, jdk, complaints } of journal.get("kills") ?? []) {
    failed.push(...complaints.map((why) => `Killed after ${milliseconds} ms on JDK ${jdk}: ${why}`));
  }
  const refine = journal.get("refine");
  return refine === undefined ? failed : [...failed, ...refineFailures(refine)];
}
