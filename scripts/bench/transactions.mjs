/**
 * `npm run bench -- transactions [SERVER…]`: transactional profiling of servers that the distribution packages. Of each it
 * says whether every request was found with its name, and what recording costs. Writes its section of docs/benchmarks.md.
 */
import { readFileSync, rmSync } from "node:fs";
import { release } from "node:os";
import path from "node:path";
import { root, StepError, step, which } from "../lib/steps.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { sideBySide, windowsOf } from "./transactions/beside.mjs";
import { report } from "./transactions/report.mjs";
import { installed, prepare, work } from "./transactions/servers.mjs";
import { asked, recorder, recorderWith, whileServing } from "./transactions/serving.mjs";

/** Rounds in which everything is recorded, and seconds of asking two servers side by side. */
const normal = { rounds: 2, recorded: 240, perf: 45 };
const quick = { rounds: 1, recorded: 20, perf: 5 };
/** A sample each two milliseconds of CPU time, as Fulcrum takes the first thousand. */
const perf = ["perf", "record", "-q", "-F", "500", "-g", "--call-graph", "dwarf,16384"];
const run = path.join(work, "run");

export async function bench(args) {
  const options = parseOptions(args);
  const { found, notes } = installed();
  const chosen = found.filter(
    ({ name }) => options.names.length === 0 || options.names.some((it) => name.includes(it)),
  );
  if (chosen.length === 0) {
    throw new StepError(["No such server is here.", ...notes].join("\n"));
  }
  const journal = new Journal(options.quick ? "transactions-quick" : "transactions");
  if (!options.report) {
    warnIfBusy();
    const servers = chosen.filter(({ name }) => !options.resume || journal.get(name) === undefined);
    await prepare(servers);
    const machine = journal.put("machine", await describeMachine());
    for (const server of servers) {
      journal.put(
        server.name,
        await step(server.name, () => measure(server, options.quick ? quick : normal, machine.revision)),
      );
    }
  }
  const text = report(found, journal, notes, readFileSync(path.join(root, "docs", "benchmarks.md"), "utf8"));
  if (options.quick) {
    console.log(`\n${text}\n\nThese were short times (--quick), and docs/benchmarks.md stays as it is.`);
  } else {
    writeSection("docs/benchmarks.md", "transactions", text);
  }
}

/** What was found of all requests, and what flowed through shared memory; and the times of requests side by side. */
async function measure(server, { rounds, recorded, perf: perfSeconds }, revision) {
  const found = { sent: 0, differences: [], flowed: {} };
  for (let round = 0; round < rounds; round += 1) {
    rmSync(run, { recursive: true, force: true });
    const load = await whileServing(server, recorder(run), () => server.load(server.port, server.requests));
    await look(server, load, found);
  }
  rmSync(run, { recursive: true, force: true });
  const pairs = await sideBySide(server, recorderWith(run), recorded);
  const windows = windowsOf(run);
  rmSync(run, { recursive: true, force: true });
  const data = path.join(work, "perf.data");
  const underPerf =
    which("perf") === undefined ? undefined : await sideBySide(server, [...perf, "-o", data, "--"], perfSeconds);
  rmSync(data, { force: true });
  const measured = [revision, new Date().toISOString().slice(0, 10), release()].join(", ");
  return { ...found, pairs, windows, underPerf, measured };
}

/** Adds what a run shows of a load. */
async function look(server, load, found) {
  const requests = Object.values(load.sent).reduce((sum, count) => sum + count, 0);
  found.sent += requests;
  const shown = await asked("show", run);
  found.differences.push(...named(shown, load.sent), ...handedOver(server, shown, requests));
  for (const { kind, from, to, count } of shown.flows) {
    if (kind === "memory") {
      const name = `${from} → ${to}`;
      found.flowed[name] = (found.flowed[name] ?? 0) + count;
    }
  }
}

/** Requests that were not found under their names as often as they were sent, a sentence each. */
function named({ types }, sent) {
  return Object.entries(sent).flatMap(([name, requests]) => {
    const count = types.find((it) => it.name === name)?.count ?? 0;
    return count === requests ? [] : [`${name}: ${count} of ${requests} requests`];
  });
}

/** Whether each connection went from thread to thread as the server hands it over; more come from asking whether it listens. */
function handedOver({ queue, sharesNothing }, { flows }, connections) {
  if (sharesNothing) {
    const memory = flows.filter(({ kind }) => kind === "memory");
    return memory.map(({ from, to, count }) => `${from} → ${to}: ${count} flows where nothing is handed over`);
  }
  if (queue === undefined) {
    return [];
  }
  const [from, to] = queue;
  const flow = flows.find((it) => it.kind === "memory" && it.from === from && it.to === to);
  const count = flow?.count ?? 0;
  return count >= connections ? [] : [`${from} → ${to}: ${count} of ${connections} connections`];
}
