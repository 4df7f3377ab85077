/**
 * `npm run bench -- jvm dispatcher`: samples/dispatcher against queueing theory (JPMT §5; issue 5, Done-when 3).
 *
 * The server is traced, and its queue is replayed from the trace. The replay is compared with the program's own measurements,
 * request by request, and its means with M/D/3 at the measured arrival rate and service time.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import { root, run, StepError, step } from "../../lib/steps.mjs";
import { writeSection } from "../lib/document.mjs";
import { mean, median, middle95 } from "../lib/statistics.mjs";
import { firstComeFirstServed, simulatedMeans, stationary } from "./mdc.mjs";

const fulcrum = path.join(root, "bin", "fulcrum");
const sample = path.join(root, "samples", "dispatcher");
const servers = 3;
/** A wait in the replay and the program's own differ by a thread's time between reading its clock and its probe. */
const tolerance = 1e-3;

/**
 * @param {{ requests?: number, scale?: number, seed?: number, write?: boolean }} [options]
 * @returns {Promise<boolean>} whether everything agrees
 */
export async function dispatcher({ requests = 1000, scale = 0.1, seed = 1, write = true } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "fulcrum-dispatcher-"));
  try {
    const classes = path.join(folder, "classes");
    mkdirSync(classes);
    const sources = path.join(sample, "src", "dispatcher");
    const files = readdirSync(sources).map((name) => path.join(sources, name));
    await step("javac samples/dispatcher", () => run("javac", ["-g", "-d", classes, ...files]));
    const trace = path.join(folder, "run");
    const filter = path.join(sample, "dispatcher.fulcrum-filter");
    const options = ["--requests", requests, "--scale", scale, "--seed", seed, "--truth"].map(String);
    const java = ["java", "-cp", classes, "dispatcher.Main", ...options];
    const traced = await step(`${requests} requests at scale ${scale}`, () =>
      run(fulcrum, ["trace", "--quiet", "--filter", filter, "--output", trace, "--", ...java]),
    );
    const queues = ["events", "queues", trace, "--put", "ThreadPool.add", "--take", "ThreadPool.get", "--json"];
    const { stdout } = await step("replay", () => run(fulcrum, queues));
    const result = agree(requestsOf(JSON.parse(stdout)), truthOf(traced.stdout));
    const lines = report(result, { requests, scale });
    console.log(lines.join("\n"));
    if (write) {
      const machine = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown CPU"}.`;
      writeSection(
        "docs/benchmarks.md",
        "dispatcher",
        ["## A queue against theory", "", machine, "", ...lines].join("\n"),
      );
    }
    return result.agrees;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The replay's requests, seconds. */
export function requestsOf({ requests }) {
  const seconds = (ns) => ns / 1e9;
  return requests.map((it) => {
    if (it.dispatchNs === null || it.finishNs === null || it.sure === false) {
      throw new StepError(`Request ${it.number} was not replayed from its put to its end.`);
    }
    return {
      number: it.number,
      enqueue: seconds(it.enqueueNs),
      dispatch: seconds(it.dispatchNs),
      finish: seconds(it.finishNs),
      wait: seconds(it.waitNs),
    };
  });
}

/** The program's own measurements, seconds: one line per request, after the heading. */
export function truthOf(stdout) {
  const lines = stdout.split("\n");
  const from = lines.findIndex((line) => line.startsWith("number\t"));
  return lines
    .slice(from + 1)
    .filter((line) => line !== "")
    .map((line) => {
      const [number = 0, enqueue = 0, dispatch = 0, finish = 0] = line.split("\t").map(Number);
      return { number, enqueue: enqueue / 1e9, dispatch: dispatch / 1e9, finish: finish / 1e9 };
    });
}

/** All comparisons. Times are in seconds. */
export function agree(replayed, truth) {
  const count = replayed.length;
  const sameRequests = count === truth.length && replayed.every((it, n) => it.number === truth[n].number);
  // For each request: dispatch minus enqueue, by the trace and by the program.
  const errors = replayed.map((it, n) => Math.abs(it.wait - (truth[n]?.dispatch - truth[n]?.enqueue)));
  const consistent = replayed.every((it) => Math.abs(it.wait - (it.dispatch - it.enqueue)) < 1e-9);
  const span = replayed[count - 1].enqueue - replayed[0].enqueue;
  const rate = (count - 1) / span;
  const service = mean(replayed.map((it) => it.finish - it.dispatch));
  const wait = mean(replayed.map((it) => it.wait));
  const response = mean(replayed.map((it) => it.finish - it.enqueue));
  const theory = stationary(rate, service, servers);
  const interval = middle95(simulatedMeans({ count, span, service, servers }));
  const begins = firstComeFirstServed(
    replayed.map((it) => it.enqueue),
    replayed.map((it) => it.finish - it.dispatch),
    servers,
  );
  const delays = replayed.map((it, n) => it.dispatch - begins[n]);
  const inside = (value, add) => value >= interval.low + add && value <= interval.high + add;
  const largest = Math.max(...errors);
  return {
    ...{ count, rate, service, wait, response, theory, interval, sameRequests, consistent, largest },
    error: median(errors),
    delay: median(delays),
    agrees: sameRequests && consistent && largest <= tolerance && inside(wait, 0) && inside(response, service),
  };
}

function report(result, { requests, scale }) {
  const { rate, service, wait, response, theory, interval, error, largest, delay } = result;
  const ms = (seconds) => `${(seconds * 1e3).toFixed(2)} ms`;
  const range = (add) => `${ms(interval.low + add)} to ${ms(interval.high + add)}`;
  return [
    `\`samples/dispatcher\`, ${requests} requests at ${scale} of the paper's times, traced with its filter. The trace shows ${rate.toFixed(2)}`,
    `arrivals a second and ${ms(service)} of service, so the load of the three dispatchers is ${(theory.load * 100).toFixed(1)} %.`,
    "",
    "| | measured | M/D/3, long run | M/D/3, 95 % of simulated runs of this length |",
    "|---|---:|---:|---:|",
    `| mean wait | ${ms(wait)} | ${ms(theory.wait)} | ${range(0)} |`,
    `| mean response | ${ms(response)} | ${ms(theory.response)} | ${range(service)} |`,
    "",
    `For each request, the wait in the replay (dispatch minus enqueue) differs from the program's own measurement by ${(error * 1e6).toFixed(1)} µs in the`,
    `median and ${(largest * 1e6).toFixed(0)} µs at most. With the recorded arrivals and service times, three servers that serve first come first served would`,
    `begin each service ${(delay * 1e6).toFixed(0)} µs (median) before the dispatcher did: the time to wake a thread.`,
    "",
    result.agrees ? "Everything agrees." : "**It does not agree.**",
  ];
}
