/**
 * `npm run bench -- price`: what a critical section is worth to those who wait for it, predicted by `fulcrum transactions price`
 * beside what really halving it brings, for a small server under several loads. Writes its section of docs/accuracy.md, and fails
 * when the two are further apart than the prediction's interval and 4 points.
 */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { engineBinary, root, StepError, step, tryRun } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { mean, speedup } from "./lib/statistics.mjs";
import { report } from "./price/report.mjs";
import { ask, quit, until } from "./price/till.mjs";

const work = path.join(root, "out", "bench", "price");
const till = path.join(work, "till");

/** How many ask for what at a time, and how long each thinks before the next request, milliseconds. */
export const loads = {
  "1 report, 1 checkout": { report: [0], checkout: [0] },
  "1 report, 2 checkouts that think 10 ms": { report: [0], checkout: [10, 10] },
  "2 reports that think 10 ms, 1 checkout": { report: [10, 10], checkout: [0] },
};

const sizes = {
  normal: { recorded: 5, measured: 60, rounds: 12, round: 4 },
  quick: { recorded: 2, measured: 8, rounds: 2, round: 1 },
};

export async function bench(args) {
  const options = parseOptions(args);
  const size = options.quick ? sizes.quick : sizes.normal;
  const journal = new Journal(options.quick ? "price-quick" : "price");
  if (!options.report) {
    warnIfBusy();
    await built();
    journal.put("machine", await describeMachine());
    for (const [name, load] of Object.entries(loads)) {
      if (!options.resume || journal.get(name) === undefined) {
        journal.put(name, await step(name, () => measure(load, size)));
      }
    }
  }
  const text = report(loads, journal);
  if (options.quick) {
    console.log(`\n${text}\n\nThese were short runs (--quick), and docs/accuracy.md stays as it is.`);
    return;
  }
  writeSection("docs/accuracy.md", "price", text);
  const wrong = Object.keys(loads).filter((name) => isWrong(journal.get(name)));
  if (wrong.length > 0) {
    throw new StepError(`The prediction was wrong for ${wrong.join("; ")}.`);
  }
}

/** Predicted and actual are further apart than what is known of both allows. */
function isWrong({ predicted: { gain, gainLow, gainHigh }, actual: { value, spread } }) {
  const known = gain !== null && Math.abs(gain - value) <= 0.04;
  return !known && !(gain !== null && gainLow <= value + spread && gainHigh >= value - spread);
}

async function built() {
  mkdirSync(work, { recursive: true });
  const source = path.join(root, "test", "fixtures", "till.c");
  const { code, output } = await tryRun("gcc", ["-O1", "-g", "-pthread", source, "-o", till]);
  if (code !== 0) {
    throw new StepError(output);
  }
}

/** The prediction, and in turn rounds as it is and with half the section. */
async function measure(load, { recorded, measured, rounds, round }) {
  const run = path.join(work, "run");
  rmSync(run, { recursive: true, force: true });
  const record = [engineBinary, "transactions", "run", "--quiet", "--stdio", "files", "-o", run, "--", till];
  await served(record, () => path.join(run, "stdout.txt"), { load, seconds: recorded });
  const which = ["--waits", "GET /checkout", "--holds", "GET /report", "--at", "cart_lock"];
  const how = ["--json", "--quiet", "--stdio", "files", "--duration", `${measured + 60}s`];
  const price = [engineBinary, "transactions", "price", run, ...which, ...how];
  const output = () => path.join(run, "prices", "001", "stdout.txt");
  const { stdout } = await served(price, output, { load, seconds: measured });
  const before = [];
  const after = [];
  for (let n = 0; n < rounds; n += 1) {
    for (const [percent, times] of [
      ["100", before],
      ["50", after],
    ]) {
      const alone = ["sh", "-c", 'exec "$0" > "$1"', till, path.join(work, "port")];
      rmSync(path.join(work, "port"), { force: true });
      const env = { TILL_SECTION: percent };
      const { took } = await served(alone, () => path.join(work, "port"), { load, seconds: round, env });
      times.push(mean(took.checkout));
    }
  }
  return { predicted: JSON.parse(stdout), actual: speedup(before, after), before: mean(before), after: mean(after) };
}

/** Runs a till, asks it for so many seconds, and closes it. What it printed, and how long each request took, in milliseconds. */
async function served(command, output, { load, seconds, env }) {
  const running = runChild(command, { env, limit: seconds + 120 });
  const port = await Promise.race([until(() => portIn(output())), running.then((ended) => endedEarly(command, ended))]);
  const took = await ask(port, load, seconds);
  await quit(port);
  const { code, stdout, stderr } = await running;
  if (code !== 0) {
    throw new StepError(`${stderr.trimEnd()}\n\`${command.join(" ")}\` ended with ${code}.`);
  }
  return { stdout, took };
}

function endedEarly(command, { stderr, code }) {
  throw new StepError(`${stderr.trimEnd()}\n\`${command.join(" ")}\` ended with ${code} before it served.`);
}

/** 0 until it is there. */
function portIn(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return 0;
  }
}
