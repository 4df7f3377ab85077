/**
 * Other people's test suites, alone and under Fulcrum: a test that passes alone must pass under Fulcrum.
 *
 * The causal runtime really works during the tests: the programs have debug information (Debian's python3.11-dbg; Redis built
 * with -g), and a preloaded library visits a progress point at every `free`, so that there are experiments and pauses in the
 * programs and all their children. The table gives the number of processes, samples and experiments. With `--transactions`,
 * the suites run under `fulcrum transactions run` instead, and the table gives what that recorded.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { engineBinary as fulcrum, run, StepError, step } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { asked } from "./transactions/serving.mjs";

const python = "/usr/bin/python3.11";
const modules = [
  "test_threading",
  "test_subprocess",
  "test_signal",
  "test_socket",
  "test_asyncio",
  "test_multiprocessing_forkserver",
];
const redisParts = [
  "unit/type/string",
  "unit/multi",
  "unit/pubsub",
  "unit/latency-monitor",
  "unit/other",
  "integration/rdb",
];
/** CPython's tests of what transactional profiling follows: threads, connections, events. */
const ofTransactions = ["test_threading", "test_socket", "test_asyncio"];
/** The time limit of a suite in seconds, alone or under Fulcrum. */
const limit = 1200;
/** How often a test with different results is repeated, alone and under Fulcrum, because it may be flaky. */
const again = 5;

/**
 * `npm run bench -- borrowed [--transactions] [SUITE…]`: all of CPython's suites, or the named ones. `redis=FOLDER` is a source
 * tree of Redis in which `make -C src MALLOC=libc` was run. The tables have the newest result of every suite that ran here.
 * @param {string[]} args
 */
export async function bench(args) {
  const redis = args.find((argument) => argument.startsWith("redis="))?.slice("redis=".length);
  const kind = args.includes("--transactions") ? transactions : causal;
  const named = args.filter((argument) => !argument.includes("=") && argument !== "--transactions");
  const unknown = named.filter((name) => !modules.includes(name));
  if (unknown.length > 0) {
    throw new StepError(`There is no suite ${unknown.join(", ")}: ${modules.join(", ")}, redis=FOLDER.`);
  }
  const folder = mkdtempSync(path.join(tmpdir(), "fulcrum-borrowed-"));
  try {
    const under = await kind.prepare(folder);
    const suites = [
      ...(named.length > 0 ? named : redis === undefined ? kind.modules : []).map(cpython),
      ...(redis === undefined ? [] : redisParts.map((part) => redisSuite(path.resolve(redis), part))),
    ];
    const journal = new Journal(`borrowed${kind.suffix}`);
    const newest = (names) => names.map((name) => journal.get(name)).filter((row) => row !== undefined);
    const write = async (section, names, source) =>
      writeSection(
        "docs/accuracy.md",
        `${section}${kind.suffix}`,
        table(newest(names), await versions(source)),
        section,
      );
    for (const suite of suites) {
      journal.put(suite.name, await compare(suite, folder, { kind, under }));
    }
    if (suites.some((suite) => suite.cwd === undefined)) {
      await write("cpython", modules, undefined);
    }
    if (redis !== undefined) {
      const names = redisParts.map((part) => `redis ${part}`);
      await write("redis", names, redis);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * How suites run under Fulcrum.
 * @typedef {object} Kind
 * @property {string} suffix of the names of sections
 * @property {string[]} modules of CPython that run unless others are named
 * @property {(folder: string) => Promise<(suite: Suite, record: string) => { before: string[], env: Record<string, string> }>} prepare
 *   how to start a suite that is recorded in a folder
 * @property {(record: string) => Promise<Record<string, number>>} work what was recorded, by column heading
 */

/** @type {Kind} */
const causal = {
  suffix: "",
  modules,
  async prepare(folder) {
    const ticker = await buildTicker(folder);
    return (suite, record) => {
      const scope = suite.cwd === undefined ? [] : ["--binary-scope", "%redis-server"];
      return { before: [fulcrum, "run", "-q", "--output", record, ...scope, "--"], env: { LD_PRELOAD: ticker } };
    };
  },
  work: async (record) => workDone(record),
};

/** @type {Kind} */
const transactions = {
  suffix: "-transactions",
  modules: ofTransactions,
  prepare: async () => (_suite, record) => ({
    before: [fulcrum, "transactions", "run", "--quiet", "--top", "1", "--output", record, "--"],
    env: {},
  }),
  work: transactionsFound,
};

/** A library that visits a progress point at every `free`. */
async function buildTicker(folder) {
  const source = path.join(folder, "ticker.c");
  const library = path.join(folder, "ticker.so");
  writeFileSync(
    source,
    `#include <dlfcn.h>
#include <stddef.h>
void __libc_free(void *);
static size_t none, *count = &none;
__attribute__((constructor)) static void find(void) {
  size_t *(*get)(int, const char *) = dlsym(RTLD_DEFAULT, "_coz_get_counter");
  if (get) count = get(1, "free");
}
void free(void *block) {
  __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
  __libc_free(block);
}
`,
  );
  await run("gcc", ["-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"]);
  return library;
}

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {(out: string) => string[]} command
 * @property {string} [cwd]
 * @property {(out: string, text: string) => Map<string, string>} results
 * @property {(test: string, out: string) => string[]} [one] runs one test alone
 */

/** Tests of sockets between virtual machines wait forever if no host answers. */
const leftOut = "*VSOCK*";

/** @returns {Suite} */
function cpython(name) {
  return {
    name,
    command: (out) => [python, "-m", "test", "-i", leftOut, "--junit-xml", out, name],
    one: (test, out) => [python, "-m", "test", "-m", test, "--junit-xml", out, name],
    results: (out) => (existsSync(out) ? junit(readFileSync(out, "utf8")) : new Map()),
  };
}

/** @returns {Suite} */
function redisSuite(cwd, name) {
  return {
    name: `redis ${name}`,
    cwd,
    command: () => ["./runtest", "--clients", "1", "--single", name],
    results: (_out, text) => {
      const results = new Map();
      for (const [, how, test] of text.matchAll(/^\[(ok|err|exception|skip|ignore)\]: (.*?)(?: \(\d+ ms\))?$/gm)) {
        results.set(test, { ok: "passed", skip: "skipped", ignore: "skipped" }[how] ?? "failed");
      }
      return results;
    },
  };
}

/**
 * The tests in a JUnit report, and the result of each. By regular expressions, because only CPython writes these files, and three
 * elements matter; `fast-xml-parser` 5.12 has six dependencies.
 */
export function junit(xml) {
  const results = new Map();
  for (const [, attributes, rest] of xml.matchAll(/<testcase ([^>]*?)(\/>|>[\s\S]*?<\/testcase>)/g)) {
    const name = attributes.match(/\bname="([^"]*)"/)?.[1] ?? "?";
    const how = /<(failure|error)\b/.test(rest) ? "failed" : /<skipped\b/.test(rest) ? "skipped" : "passed";
    results.set(name, how);
  }
  return results;
}

/** @param {Suite} suite @param {{ kind: Kind, under: Awaited<ReturnType<Kind["prepare"]>> }} how */
async function compare(suite, folder, { kind, under: start }) {
  const record = path.join(folder, "record");
  const ways = { alone: { before: [], env: {} }, under: start(suite, record) };
  const once = async (way, command) => {
    const out = path.join(folder, `${way}.xml`);
    rmSync(out, { force: true });
    rmSync(record, { recursive: true, force: true });
    const cwd = suite.cwd ?? path.join(folder, "work");
    mkdirSync(cwd, { recursive: true });
    const { before, env } = ways[way];
    const { stdout, stderr, late } = await runChild([...before, ...command(out)], { cwd, env, limit });
    return { results: suite.results(out, withoutColours(stdout) + stderr), late, stdout, stderr };
  };
  const alone = await step(`${suite.name} alone`, () => once("alone", suite.command));
  const under = await step(`${suite.name} under Fulcrum`, () => once("under", suite.command));
  const work = await kind.work(record);
  const differences = [...new Set([...alone.results.keys(), ...under.results.keys()])]
    .map((test) => ({ test, alone: alone.results.get(test) ?? "missing", under: under.results.get(test) ?? "missing" }))
    .filter((it) => it.alone !== it.under);
  for (const it of differences) {
    console.log(`  ${it.test}: alone ${it.alone}, under Fulcrum ${it.under}`);
    it.again = suite.one && (await repeated(it.test, suite.one, once));
  }
  if (alone.late || under.late || under.results.size === 0) {
    console.log(under.stdout.slice(-2000), under.stderr.slice(-2000));
  }
  const count = (how) => [...alone.results.values()].filter((it) => it === how).length;
  return {
    name: suite.name,
    day: new Date().toISOString().slice(0, 10),
    ...{ passed: count("passed"), skipped: count("skipped"), failed: count("failed") },
    differences,
    late: under.late,
    work,
  };
}

/** How often one test fails, alternately alone and under Fulcrum. */
async function repeated(test, command, once) {
  const [, name = test] = /^(?:.*\.)?(\w+)$/.exec(test) ?? [];
  const failed = { alone: 0, under: 0 };
  for (let n = 0; n < again; n += 1) {
    for (const way of Object.keys(failed)) {
      const { results } = await once(way, (out) => command(name, out));
      failed[way] += results.size === 0 || [...results.values()].includes("failed") ? 1 : 0;
    }
  }
  return failed;
}

const colour = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, "g");

function withoutColours(text) {
  return text.replaceAll(colour, "");
}

/** What the runtime did during the suite. */
function workDone(record) {
  const work = { processes: 0, samples: 0, experiments: 0 };
  for (const file of existsSync(record) ? readdirSync(record) : []) {
    if (!file.endsWith(".jsonl")) {
      continue;
    }
    work.processes += 1;
    let total = 0;
    for (const line of readFileSync(path.join(record, file), "utf8").split("\n")) {
      if (/^\{"type":"(experiment|placebo)"/.test(line)) {
        work.experiments += 1;
      } else if (line.startsWith('{"type":"samples"')) {
        total = Number(line.match(/"total":(\d+)/)?.[1] ?? 0);
      }
    }
    work.samples += total;
  }
  return work;
}

/** What was recorded, in numbers. */
async function transactionsFound(record) {
  const logs = existsSync(record) ? readdirSync(record).filter((it) => it.endsWith(".txlog")) : [];
  const { types, flows } = await asked("show", record);
  const sum = (values) => values.reduce((total, it) => total + it, 0);
  return {
    processes: logs.length,
    transactions: sum(types.map((it) => it.count)),
    messages: sum(flows.filter(({ kind }) => kind === "message").map((it) => it.count)),
    "through memory": sum(flows.filter(({ kind }) => kind === "memory").map((it) => it.count)),
  };
}

async function versions(redis) {
  if (redis !== undefined) {
    const { stdout } = await runChild([path.join(redis, "src", "redis-server"), "--version"]);
    return stdout.trim();
  }
  const { stdout } = await runChild([
    "dpkg-query",
    "-W",
    "-f",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are dpkg-query's.
    "${Package} ${Version}, ",
    "python3.11",
    "libpython3.11-testsuite",
    "python3.11-dbg",
  ]);
  return `Debian's ${stdout.replace(/, $/, "")}`;
}

function table(rows, version) {
  const work = Object.keys(rows[0]?.work ?? {});
  const lines = [
    `${version}; ${[...new Set(rows.map((row) => row.day))].join(", ")}.`,
    "",
    `| suite | passed alone | skipped | failed alone | other under Fulcrum | ${work.join(" | ")} |`,
    `|---|---:|---:|---:|---:|${work.map(() => "---:|").join("")}`,
    ...rows.map(({ name, passed, skipped, failed, differences, work }) => {
      const numbers = [passed, skipped, failed, differences.length, ...Object.values(work)];
      return `| ${name} | ${numbers.join(" | ")} |`;
    }),
  ];
  const told = rows.flatMap(({ name, differences, late }) => [
    ...(late ? [`- ${name}: stopped after ${limit} s under Fulcrum.`] : []),
    ...differences.map(
      (it) => `- ${name}, \`${it.test}\`: alone ${it.alone}, under Fulcrum ${it.under}${repetitions(it.again)}.`,
    ),
  ]);
  return [...lines, ...(told.length > 0 ? ["", ...told] : [])].join("\n");
}

function repetitions(failed) {
  return failed === undefined
    ? ""
    : `; run ${again} times more each way, it failed ${failed.alone} times alone and ${failed.under} times under Fulcrum`;
}
