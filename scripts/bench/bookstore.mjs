/**
 * `npm run bench -- bookstore`: the bookstore of Whodunit §8.4, recorded at all three tiers. What Fulcrum says of MariaDB's CPU
 * time and of waits for locks of tables stands beside MariaDB's own account. What the two repairs of §8.4 bring stands beside what
 * `fulcrum transactions what-if` predicted from the run before.
 * Writes its section of docs/accuracy.md, and fails when shares of CPU time are further apart than 2 points, or waits than 10 %.
 */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { loadavg } from "node:os";
import path from "node:path";
import { engineBinary, root, StepError, step } from "../lib/steps.mjs";
import { account, differences } from "./bookstore/account.mjs";
import { cache, item, nothing, pages } from "./bookstore/predictions.mjs";
import { report } from "./bookstore/report.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { freePorts } from "./lib/ports.mjs";

const work = path.join(root, "out", "bench", "bookstore");

/** The shop as the paper's authors found it, and with each of their repairs. */
const shops = {
  myisam: ["--engine", "myisam"],
  item: ["--engine", "myisam", "--item", "innodb"],
  cache: ["--engine", "myisam", "--cache"],
};

/** So large that what heavy statements take stands out; and the administrator is busier than TPC-W's, to be seen in a minute. */
const size = { items: 20_000, browsers: 60, admin: 2, seconds: 90 };

export async function bench(args) {
  const options = parseOptions(args);
  const used = options.quick ? { ...size, seconds: 10 } : size;
  const journal = new Journal(options.quick ? "bookstore-quick" : "bookstore");
  if (!options.report) {
    warnIfBusy();
    const [load] = loadavg();
    journal.put("machine", { ...(await describeMachine()), load });
    for (const [name, shop] of Object.entries(shops)) {
      if (!options.resume || journal.get(name) === undefined) {
        journal.put(name, await step(`bookstore, ${name}`, () => measure(name, shop, used)));
      }
    }
  }
  const missing = Object.keys(shops).filter((name) => journal.get(name) === undefined);
  if (missing.length > 0) {
    throw new StepError(`Not measured: ${missing.join(", ")}. --resume measures what is missing.`);
  }
  const text = report(journal);
  if (options.quick) {
    console.log(`\n${text}\n\nThese were short runs (--quick), and docs/accuracy.md stays as it is.`);
    return;
  }
  writeSection("docs/accuracy.md", "bookstore", text);
  const wrong = differences(journal.get("myisam"));
  if (wrong.length > 0) {
    throw new StepError(wrong.join("\n"));
  }
}

/** One recorded run, and both accounts of it. */
async function measure(name, shop, { items, browsers, admin, seconds }) {
  const [run, json] = [path.join(work, name), path.join(work, `${name}.json`)];
  mkdirSync(work, { recursive: true });
  rmSync(run, { recursive: true, force: true });
  rmSync(json, { force: true });
  const sizes = ["--items", items, "--browsers", browsers, "--admin", admin, "--seconds", seconds];
  const [port] = await freePorts(3);
  const where = ["--port", `${port}`, "--profile", "--fulcrum", engineBinary, "--output", run, "--json", json];
  const script = path.join(root, "samples", "bookstore", "run.mjs");
  await done([process.execPath, script, ...shop, ...sizes.map(String), ...where], seconds + 400);
  const result = JSON.parse(readFileSync(json, "utf8"));
  const ask = async (...args) => JSON.parse(await done([engineBinary, "transactions", ...args, "--json"], 300));
  const shown = await ask("show", run);
  const crosstalk = await ask("crosstalk", run, "--top", "0");
  const times = pages(await ask("what-if", run, ...nothing), "now");
  return {
    ...account(result, shown, crosstalk),
    times,
    ...(name === "myisam" ? await predicted(ask, run, result) : {}),
  };
}

/** What both repairs would bring, by the run without them. */
async function predicted(ask, run, { asked }) {
  const predictions = {};
  for (const [name, options] of Object.entries({ item, cache: cache(asked) })) {
    predictions[name] = { options, times: pages(await ask("what-if", run, ...options), "predicted") };
  }
  return { predictions };
}

async function done(command, limit) {
  const { code, stdout, stderr, late } = await runChild(command, { limit });
  if (code !== 0) {
    const why = late ? `not done after ${limit} s` : `exit code ${code}`;
    throw new StepError(`${stdout}${stderr}\n${path.basename(command[1] ?? "")}: ${why}`);
  }
  return stdout;
}
