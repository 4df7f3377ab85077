/** The numbers that other tools read of a recording, beside ours. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root, run, StepError, step, tryRun, which } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { findPprof } from "../lib/pprof.mjs";
import { compare as compareTops, parseTop } from "../oracle/top.mjs";
import { textOf } from "./files.mjs";
import { afterContainer, afterProcess, compareSums, sums } from "./folded.mjs";
import { compareFunctions } from "./functions.mjs";
import { functionsOf, samplesOf } from "./snapshots.mjs";

const here = path.join(root, "scripts", "bench", "corpora");
const tools = path.join(root, "out", "bench", "tools");

/**
 * @typedef {object} Read what was read of a recording
 * @property {string} file
 * @property {string} path in its repository
 * @property {{ format: string, kind: string, valueTypes: { name: string, unit: string, total: number }[] }} info
 * @typedef {{ numbers: number, differences: string[], why?: string }} Compared `why` nothing was
 * @typedef {(read: Read) => Promise<Compared>} Peer
 */

const nothing = (why) => ({ numbers: 0, differences: [], why });

/**
 * The peer of a corpus. It is told where the corpus is, for what is in it beside the recordings.
 * @param {string} name
 * @param {string} repository
 * @param {import("./engine.mjs").Engine} engine
 * @returns {Promise<{ peer: Peer, version?: string }>}
 */
export async function peerOf(name, repository, engine) {
  const make = peers[name];
  return make === undefined ? { peer: async () => nothing("there is no peer") } : make(repository, engine);
}

const peers = {
  speedscope: async (repository, engine) => ({ peer: await snapshotsOf(repository, engine) }),
  gprof2dot,
  FlameGraph: async (repository, engine) => ({ peer: (read) => flameGraph(repository, engine, read) }),
  "FlameGraph's DTrace": gprof2dot,
  pprof,
  "async-profiler": async (_, engine) => ({ peer: (read) => lines(engine, read) }),
  JMC: jfr,
  perfparser: perf,
  hotspot: perf,
  "linux-perf-data": perf,
  PHP_CachegrindParser: gprof2dot,
};

/** Speedscope's own tests say what it makes of its samples. */
async function snapshotsOf(repository, engine) {
  const { stdout } = await run("git", ["--git-dir", repository, "ls-tree", "--name-only", "HEAD", "src/import/"]);
  const expected = new Map();
  for (const test of stdout.split("\n").filter((file) => file.endsWith(".test.ts"))) {
    const snapshots = await textOf(
      repository,
      test.replace("src/import/", "src/import/__snapshots__/").concat(".snap"),
    );
    for (const [sample, title] of samplesOf((await textOf(repository, test)) ?? "")) {
      expected.set(sample, () => functionsOf(snapshots ?? "", title));
    }
  }
  return async (read) => {
    const theirs = expected.get(read.path)?.();
    if (theirs === undefined || theirs.length === 0) {
      return nothing("speedscope has no snapshot of it");
    }
    const other = otherMeaning(read);
    return other === undefined ? likeSpeedscope(engine, read, theirs) : nothing(other);
  };
}

/** Where speedscope's numbers are of something else. */
function otherMeaning({ info: { format }, path: file }) {
  const spans = /mismatched-name|unbalanced-name|invalid-x-nesting|end-non-top-of-stack/;
  switch (format) {
    case "Chrome trace":
      if (spans.test(file)) {
        return "events overlap, and every tool cuts them in its own way";
      }
      return file.includes("/trace-event/") ? undefined : "speedscope leaves out idle time and the program";
    case "cpuprofile":
      return "speedscope leaves out idle time and the program";
    case "Firefox":
      return "speedscope counts time between samples, and leaves out frames of the browser";
    case "callgrind":
      // It makes a tree of the graph, in which calls cost what they cost on average.
      return /cfn-reset|multiple/.test(file) ? "speedscope makes a tree of the graph by shares" : undefined;
    case "JFR":
    case "perf script":
      return "speedscope counts time between samples";
    case "Instruments":
      return /cycles|16\.0|allocations/.test(file)
        ? "speedscope cuts off the decimals of what Instruments wrote"
        : undefined;
    case "Haskell":
      return "speedscope's snapshot mixes ticks and bytes";
    case "stackprof":
      return /object|last-frame/.test(file) ? undefined : "speedscope counts the time stamps of samples";
    default:
      return undefined;
  }
}

async function likeSpeedscope(engine, read, theirs) {
  const value = read.info.valueTypes.findIndex(({ name }) => ["time", "cpu"].includes(name));
  const { unit, functions } = await engine.top(read.file, value < 0 ? 1 : value + 1);
  // Its samples last fractions of nanoseconds.
  const slack = read.info.format === "Safari" ? read.info.valueTypes[0].total : 0;
  const ours = functions.map((it) => ({ ...cost(it), name: plain(it.name) }));
  const named = theirs.map((it) => ({ ...it, name: plain(it.name) }));
  return compareFunctions(ours, named, unit === "ns" ? nanoseconds(read.info.format) : 1, slack);
}

/** One of our functions, in the words of the comparison. */
function cost({ name, base, cum }) {
  return { name, self: base, total: cum };
}

/** What speedscope counts in, by format. */
function nanoseconds(format) {
  return { pprof: 1, Safari: 1e9, Instruments: 1e6 }[format] ?? 1e3;
}

/** A name without what one of the two adds to it: the arguments of a span, the place of a function without a name. */
function plain(name) {
  const bare = name.replace(/ \{.*\}$/, "").replace(/^\((unnamed|unknown)\)$/, "[unknown]");
  return /^\(?anonymous\b/.test(bare) ? "(anonymous)" : bare;
}

/** gprof2dot, installed by pip, once. */
async function gprof2dot(_, engine) {
  const version = "2025.4.14";
  const folder = path.join(tools, "gprof2dot");
  const python = path.join(folder, "bin", "python");
  if (!existsSync(path.join(folder, "bin", "gprof2dot"))) {
    await step("gprof2dot", async () => {
      await run("python3", ["-m", "venv", folder]);
      await run(python, ["-m", "pip", "install", "--quiet", `gprof2dot==${version}`]);
    });
  }
  const formats = {
    callgrind: "callgrind",
    gprof: "prof",
    pstats: "pstats",
    "perf script": "perf",
    DTrace: "dtrace",
    "folded stacks": "collapse",
    "gprof2dot JSON": "json",
  };
  const peer = async (read) => {
    const format = formats[read.info.format];
    const { code, stdout, stderr } = await runChild([python, path.join(here, "functions.py"), format, read.file]);
    if (code !== 0) {
      return nothing(`gprof2dot refuses it: ${stderr.trim().split("\n").at(-1)}`);
    }
    const found = JSON.parse(stdout);
    if (found.length === 0) {
      return nothing("gprof2dot reads nothing of it");
    }
    const theirs = found.map(([name, module, self, total]) =>
      likeOurs(format, module, { name, self: self ?? 0, total: total ?? undefined }),
    );
    const { unit, value, functions } = await engine.top(read.file, 1);
    const ours = functions.map((it) => ({ ...cost(it), name: likeTheirs(format, it.name) }));
    return compareFunctions(ours, theirs, scaleOf(read, { format, unit, value }));
  };
  return { peer, version: `gprof2dot ${version}` };
}

/** What one of gprof2dot's is in our units. */
function scaleOf({ file }, { format, unit, value }) {
  if (format === "callgrind" && unit === "ns") {
    // Xdebug says what its times count in: `events: Time_(10ns) Memory_(bytes)`.
    const [, count, of] = /^events: Time_\((\d*)(ns|µs)\)/m.exec(readFileSync(file, "utf8")) ?? [];
    return Number(count || 1) * (of === "ns" ? 1 : 1e3);
  }
  return unit === "ns" ? 1e9 : value === "cycles" ? 1e3 : 1;
}

/** A function of gprof2dot's. Code without a name is one function a file for us, so its sums by stack are others. */
function likeOurs(format, module, { name, self, total }) {
  if ({ perf: /^[\da-f]+$/, dtrace: /^0x[\da-f]+$/ }[format]?.test(name)) {
    const known = module !== "[unknown]" && module !== "";
    return { name: `[${known ? module.replace(/^\[|\]$/g, "") : "unknown"}]`, self };
  }
  return { name: shortAddress(name), self, total };
}

/** The name of one of our functions, as gprof2dot has it. */
function likeTheirs(format, name) {
  switch (format) {
    case "callgrind":
      return shortAddress(name.replace(/^(0x[\da-f]+('\d+)?) \(.*\)$/i, "$1"));
    case "collapse":
      return name.replace(/ \([^()]*:\d+\)$/, "");
    case "pstats": {
      const [, function_, file, line] = /^(.*) \((.*):(\d+)\)$/.exec(name) ?? [];
      return file === undefined ? `~:0:${name}` : `${path.parse(file).name}:${line}:${function_}`;
    }
    default:
      return name;
  }
}

/** `0x00012C30` is `0x12c30`. */
function shortAddress(name) {
  return name.replace(/^0x0*([\da-f]+)/i, (_, digits) => `0x${digits.toLowerCase()}`);
}

/** The sums that stackcollapse-perf.pl's own tests expect, by stack. */
async function flameGraph(repository, engine, read) {
  const expected = read.path.replace(/^test\/(.*)\.txt$/, "test/results/$1-collapsed-all.txt");
  const theirs = await textOf(repository, expected);
  if (theirs === undefined) {
    return nothing("FlameGraph has no result of it");
  }
  // It counts the first event only, and a sample only when an empty line ends it.
  const text = readFileSync(read.file, "utf8");
  const first = /:\s*(?:\d+)*\s+(\S+):\s*$/m.exec(text)?.[1];
  const ended = path.join(tools, "ended.txt");
  mkdirSync(tools, { recursive: true });
  writeFileSync(ended, text.endsWith("\n\n") ? text : text.slice(0, text.lastIndexOf("\n\n") + 2));
  const value = read.info.valueTypes.findIndex(({ name }) => name === first);
  const ours = await engine.folded(ended, value < 0 ? 1 : value + 1);
  return compareSums(sums(ours, afterContainer), sums(theirs, afterProcess));
}

/** Flat and cum of every function. Where pprof knows addresses only, tools.mjs compares them. */
async function pprof(_, engine) {
  const found = await findPprof();
  const peer = async (read) => {
    if (read.info.format !== "pprof") {
      return nothing("its addresses are compared by pprof -raw");
    }
    const all = { numbers: 0, differences: [] };
    const exact = ["-top", "-trim=false", "-nodecount=0", "-nodefraction=0", "-edgefraction=0", "-symbolize=none"];
    for (const [index, { unit }] of read.info.valueTypes.entries()) {
      const ours = await engine.top(read.file, index + 1);
      const { stdout } = await run(found.pprof, [
        ...exact,
        `-unit=${unit || "count"}`,
        `-sample_index=${index}`,
        read.file,
      ]);
      const { functions, problems } = compareTops(ours.functions, parseTop(stdout));
      all.numbers += 2 * functions;
      all.differences.push(...problems);
    }
    return all;
  };
  return { peer, version: found.version };
}

/** The sum of each stack's lines. */
async function lines(engine, read) {
  const whole = (frames) => frames;
  return compareSums(sums(await engine.folded(read.file, 1), whole), sums(readFileSync(read.file, "utf8"), whole));
}

/** Samples of more are counted, and not taken apart: what `jfr print` writes is a thousand times as large. */
const many = 1000;

async function jfr(_, engine) {
  if (which("jfr") === undefined) {
    throw new StepError("A JDK is needed for `jfr`: install default-jdk-headless.");
  }
  const { output } = await tryRun("java", ["-version"]);
  const kinds = { samples: "ExecutionSample", "native samples": "NativeMethodSample" };
  const peer = async (read) => {
    const { stdout } = await run("jfr", ["summary", read.file]);
    const all = { numbers: 0, differences: [] };
    for (const [name, event] of Object.entries(kinds)) {
      const theirs = Number(new RegExp(`\\.${event}\\s+(\\d+)`).exec(stdout)?.[1] ?? 0);
      const ours = read.info.valueTypes.find((it) => it.name === name)?.total ?? 0;
      all.numbers += 1;
      if (theirs !== ours) {
        all.differences.push(`${name}: ${ours}, jfr says ${theirs}`);
      }
      if (theirs > 0 && theirs <= many) {
        const { numbers, differences } = await methods(read, name, event);
        all.numbers += numbers;
        all.differences.push(...differences);
      }
    }
    return all;
  };
  const methods = async (read, name, event) => {
    const names = `jdk.${event},com.oracle.jdk.${event}`;
    const printed = await run("jfr", ["print", "--json", "--stack-depth", "2048", "--events", names, read.file]);
    const { functions } = await engine.top(read.file, name);
    return compareFunctions(functions.filter(isMethod).map(cost), methodsOf(JSON.parse(printed.stdout)), 1);
  };
  return { peer, version: `jfr of ${output.split("\n")[0]}` };
}

/** Names that are none of the recording's. */
function isMethod({ name }) {
  return !name.startsWith("[");
}

/**
 * How often each method was in a sample, alone and at all.
 * @param {{ recording: { events: { values: { stackTrace: { frames: { method: any }[] } | null } }[] } }} printed
 */
export function methodsOf({ recording: { events } }) {
  const methods = new Map();
  for (const { values } of events) {
    const frames = values.stackTrace?.frames ?? [];
    // A recording may have lost a method.
    const names = frames.map(({ method }) =>
      method?.type ? `${method.type.name.replaceAll("/", ".")}.${method.name}` : undefined,
    );
    for (const name of new Set(names.filter((it) => it !== undefined))) {
      const { self, total } = methods.get(name) ?? { self: 0, total: 0 };
      methods.set(name, { name, self: self + (name === names[0] ? 1 : 0), total: total + 1 });
    }
  }
  return [...methods.values()];
}

/** Samples and periods of every event. The programs that were recorded are not here, so neither has their names. */
async function perf() {
  if (which("perf") === undefined) {
    throw new StepError("perf is needed to compare perf.data: install linux-perf.");
  }
  const { output } = await tryRun("perf", ["--version"]);
  const peer = async (read) => {
    const { code, stdout, stderr } = await runChild(["perf", "script", "-F", "event,period", "-i", read.file]);
    if (code !== 0) {
      return nothing(`perf refuses it: ${stderr.trim().split("\n").at(-1)}`);
    }
    const theirs = new Map();
    for (const [, period, event] of stdout.matchAll(/^[ \t]*(\d+)[ \t]+(\S+):/gm)) {
      theirs.set("samples", (theirs.get("samples") ?? 0) + 1);
      theirs.set(event, (theirs.get(event) ?? 0) + Number(period));
    }
    const ours = new Map(read.info.valueTypes.map(({ name, total }) => [name, total]));
    return compareSums(ours, theirs);
  };
  return { peer, version: output.trim() };
}
