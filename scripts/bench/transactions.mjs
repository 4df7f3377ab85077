/**
 * `npm run bench -- transactions [SERVER…]`: transactional profiling of servers that the distribution packages. Of each it
 * says whether every request was found with its name, and what recording costs of its throughput, beside `perf record` at the
 * first rate: rounds alone, recorded, and under perf, in turn. Writes its section of docs/benchmarks.md.
 */
import { rmSync } from "node:fs";
import path from "node:path";
import { StepError, step, which } from "../lib/steps.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { report } from "./transactions/report.mjs";
import { installed, prepare, work } from "./transactions/servers.mjs";
import { asked, recorder, whileServing } from "./transactions/serving.mjs";

const rounds = { normal: 12, quick: 1 };
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
    journal.put("machine", await describeMachine());
    for (const server of servers) {
      const measured = () => measure(server, options.quick ? rounds.quick : rounds.normal);
      journal.put(server.name, await step(server.name, measured));
    }
  }
  const text = report(found, journal, notes);
  if (options.quick) {
    console.log(`\n${text}\n\nThis was one round each (--quick), and docs/benchmarks.md stays as it is.`);
  } else {
    writeSection("docs/benchmarks.md", "transactions", text);
  }
}

/** Seconds of each round, and of the recorded ones what was sent, what was found, and what flowed through shared memory. */
async function measure(server, count) {
  const ways = {
    alone: [],
    recorded: recorder(run),
    ...(which("perf") !== undefined && { perf: [...perf, "-o", path.join(work, "perf.data"), "--"] }),
  };
  const seconds = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
  const differences = [];
  /** @type {Record<string, number>} */
  const flowed = {};
  let sent = 0;
  for (let round = 0; round < count; round += 1) {
    for (const [way, before] of Object.entries(ways)) {
      rmSync(run, { recursive: true, force: true });
      const load = await whileServing(server, before, () => server.load(server.port, server.requests));
      seconds[way].push(load.seconds);
      if (way === "recorded") {
        const requests = Object.values(load.sent).reduce((sum, count) => sum + count, 0);
        sent += requests;
        const shown = await asked("show", run);
        differences.push(...named(shown, load.sent), ...handedOver(server, shown, requests));
        for (const { kind, from, to, count } of shown.flows) {
          if (kind === "memory") {
            const name = `${from} → ${to}`;
            flowed[name] = (flowed[name] ?? 0) + count;
          }
        }
      }
    }
  }
  return { seconds, sent, differences, flowed };
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
