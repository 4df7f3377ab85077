/**
 * Bottleneck search on synthetic profiles of the paper's sizes: loading against peers, navigation, automatic search.
 * `npm run bench -- paths [PART…]`, PART being loading, navigation, flame or automatic. Needs 12 GB of memory and 10 of disk.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { root, StepError, step } from "../lib/steps.mjs";
import { writeSection } from "./lib/document.mjs";
import { findInferno } from "./lib/inferno.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";
import { findPprof } from "./lib/pprof.mjs";
import { searchAll, searchTime } from "./paths/automatic.mjs";
import { drawAll } from "./paths/flame.mjs";
import { measure, Navigator } from "./paths/process.mjs";
import { pathsReport } from "./paths/report.mjs";
import { Server } from "./paths/server.mjs";
import { buildGenerator, synthetic } from "./paths/synthetic.mjs";
import { walk } from "./paths/walk.mjs";

const fulcrum = path.join(root, "bin", "fulcrum");
const rounds = 3;
/** A real profile of 425,051 nodes, of google/pprof's tests; measured if it is there. */
const real = path.join(root, "..", "shared", "profiles", "pprof-large.cpu.pb.gz");
/** More, because reading it takes only a few hundredths of a second. */
const realRounds = 21;
/** For a walk of the first moments: other dice, so that nothing in the measured walk was asked for before. */
const firstMoments = { searches: 2, seed: 5 };
/** Seconds to look at a first answer. */
const look = 3;

const parts = {
  loading: measureLoading,
  navigation: measureNavigation,
  flame: measureFlame,
  automatic: measureAutomatic,
};

export async function bench(args) {
  const { names, quick, report } = parseOptions(args);
  const unknown = names.filter((name) => parts[name] === undefined);
  if (unknown.length > 0) {
    throw new StepError(`There is no part ${unknown.join(", ")}: choose among ${Object.keys(parts).join(", ")}.`);
  }
  const journal = new Journal(quick ? "paths-quick" : "paths");
  if (!report) {
    warnIfBusy();
    await buildGenerator();
    for (const [name, measurePart] of Object.entries(parts)) {
      if (names.length === 0 || names.includes(name)) {
        await measurePart(journal, quick);
      }
    }
    journal.put("machine", await describeMachine());
  }
  if (quick) {
    console.log(pathsReport(journal));
  } else {
    writeSection("docs/benchmarks.md", "paths", pathsReport(journal));
  }
}

/** Whole commands that list functions or draw them, by time and memory. Rounds go through all of them, the comparison once. */
async function measureLoading(journal, quick) {
  const { pprof, version } = await findPprof();
  const inferno = await findInferno();
  const [kind, name] = quick ? ["xml", "xml"] : ["specj", "specj"];
  const { file } = await synthetic(kind, { folded: true });
  const pair = await synthetic("trade3");
  const base = pair.file("trade3-disabled", "pb.gz");
  const other = pair.file("trade3-enabled", "pb.gz");
  const commands = {
    "fulcrum pprof": [fulcrum, "profile", "top", file(name, "pb.gz")],
    "pprof pprof": [pprof, "-top", file(name, "pb.gz")],
    "fulcrum folded": [fulcrum, "profile", "top", file(name, "folded")],
    "inferno folded": [inferno.program, "--quiet", file(name, "folded")],
    "fulcrum compared": [fulcrum, "profile", "top", "--against", base, other],
    "pprof compared": [pprof, "-top", `-diff_base=${base}`, other],
  };
  const results = Object.fromEntries(Object.keys(commands).map((title) => [title, []]));
  for (let round = 0; round < (quick ? 1 : rounds); round += 1) {
    await step(`loading, round ${round + 1}`, async () => {
      for (const [title, command] of Object.entries(commands)) {
        // pprof compares for minutes where others are busy: once is enough.
        if (round === 0 || !title.endsWith("compared")) {
          results[title].push(await measure(command));
        }
      }
    });
    journal.put("loading", { results, peers: { pprof: version, inferno: inferno.version } });
  }
  if (existsSync(real)) {
    const both = { "fulcrum real": [], "pprof real": [] };
    await step("loading a real profile", async () => {
      for (let round = 0; round < (quick ? 1 : realRounds); round += 1) {
        both["fulcrum real"].push(await measure([fulcrum, "profile", "top", real]));
        both["pprof real"].push(await measure([pprof, "-top", real]));
      }
    });
    Object.assign(results, both);
    journal.put("loading", { results, peers: { pprof: version, inferno: inferno.version } });
  }
}

/** Every command of an analyst on ten million nodes. */
async function measureNavigation(journal, quick) {
  const [kind, name] = quick ? ["xml", "xml"] : ["ten-million", "ten-million"];
  const { file } = await synthetic(kind);
  const start = Date.now();
  const navigator = new Navigator(fulcrum, [file(name, "pb.gz")]);
  try {
    // Answers when everything is loaded.
    await navigator.ask("labels");
    const seconds = (Date.now() - start) / 1000;
    const early = await walk(navigator, firstMoments.searches, firstMoments.seed);
    await setTimeout(1000 * look);
    const times = await step("navigation", () => walk(navigator, quick ? 4 : 40));
    journal.put("navigation", { seconds, megabytes: navigator.megabytes(), early, times });
  } finally {
    await navigator.close();
  }
}

/** The flame graph requests of an editor, on ten million nodes. */
async function measureFlame(journal, quick) {
  const [kind, name] = quick ? ["xml", "xml"] : ["ten-million", "ten-million"];
  const { file } = await synthetic(kind);
  const server = new Server(fulcrum);
  try {
    await server.start();
    const { answer } = await server.ask("fulcrum/navigator/open", { files: [file(name, "pb.gz")] });
    const early = await drawAll(server, answer.id, firstMoments.searches, firstMoments.seed);
    await setTimeout(1000 * look);
    const times = await step("flame graphs", () => drawAll(server, answer.id, quick ? 4 : 40));
    journal.put("flame", { early, times });
  } finally {
    await server.close();
  }
}

/** How good the automatic search is, and how much processor time it needs. */
async function measureAutomatic(journal, quick) {
  journal.put("automatic", await searchAll(fulcrum, quick));
  journal.put("automatic time", await searchTime(fulcrum, quick ? 1 : rounds, quick));
}
