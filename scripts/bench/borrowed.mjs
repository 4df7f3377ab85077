/**
 * Other people's test suites, alone and under Fulcrum: what passes alone must pass under it.
 *
 * The runtime is really at work meanwhile: the programs have debug information (Debian's python3.11-dbg; Redis built
 * with -g), and a preloaded library visits a progress point at every `free`, so experiments and pauses go on in the
 * programs and all their children. The table says how many processes, samples and experiments there were.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { root, run, StepError, step } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";

const fulcrum = path.join(root, "bin", "fulcrum");
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
/** Seconds that one suite may take, alone or under Fulcrum. */
const limit = 1200;

/**
 * `npm run bench -- borrowed [SUITE…]`: all of CPython's, or those named; `redis=FOLDER` is a source tree of Redis in
 * which `make -C src MALLOC=libc` has been run. The tables hold the newest result of every suite that ran here.
 * @param {string[]} args
 */
export async function bench(args) {
  const redis = args.find((argument) => argument.startsWith("redis="))?.slice("redis=".length);
  const named = args.filter((argument) => !argument.includes("="));
  const unknown = named.filter((name) => !modules.includes(name));
  if (unknown.length > 0) {
    throw new StepError(`There is no suite ${unknown.join(", ")}: ${modules.join(", ")}, redis=FOLDER.`);
  }
  const folder = mkdtempSync(path.join(tmpdir(), "fulcrum-borrowed-"));
  try {
    const ticker = await buildTicker(folder);
    const suites = [
      ...(named.length > 0 ? named : redis === undefined ? modules : []).map(cpython),
      ...(redis === undefined ? [] : redisParts.map((part) => redisSuite(path.resolve(redis), part))),
    ];
    const journal = new Journal("borrowed");
    for (const suite of suites) {
      journal.put(suite.name, await compare(suite, folder, ticker));
    }
    const newest = (names) => names.map((name) => journal.get(name)).filter((row) => row !== undefined);
    if (suites.some((suite) => suite.cwd === undefined)) {
      writeSection("docs/accuracy.md", "cpython", table(newest(modules), await versions()));
    }
    if (redis !== undefined) {
      const names = redisParts.map((part) => `redis ${part}`);
      writeSection("docs/accuracy.md", "redis", table(newest(names), await versions(redis)));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

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

/** @typedef {{ name: string, command: (out: string) => string[], cwd?: string, results: (out: string, text: string) => Map<string, string> }} Suite */

/** Tests of sockets between virtual machines wait for ever where no host answers. */
const leftOut = "*VSOCK*";

/** @returns {Suite} */
function cpython(name) {
  return {
    name,
    command: (out) => [python, "-m", "test", "-i", leftOut, "--junit-xml", out, name],
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

/** The tests of a report in JUnit's format, and how each went. */
export function junit(xml) {
  const results = new Map();
  for (const [, attributes, rest] of xml.matchAll(/<testcase ([^>]*?)(\/>|>[\s\S]*?<\/testcase>)/g)) {
    const name = attributes.match(/\bname="([^"]*)"/)?.[1] ?? "?";
    const how = /<(failure|error)\b/.test(rest) ? "failed" : /<skipped\b/.test(rest) ? "skipped" : "passed";
    results.set(name, how);
  }
  return results;
}

/** @param {Suite} suite */
async function compare(suite, folder, ticker) {
  const once = async (how, before, env) => {
    const out = path.join(folder, `${how}.xml`);
    rmSync(out, { force: true });
    const cwd = suite.cwd ?? path.join(folder, "work");
    mkdirSync(cwd, { recursive: true });
    const { stdout, stderr, late } = await runChild([...before, ...suite.command(out)], { cwd, env, limit });
    return { results: suite.results(out, withoutColours(stdout) + stderr), late, stdout, stderr };
  };
  const record = path.join(folder, "record");
  rmSync(record, { recursive: true, force: true });
  const alone = await step(`${suite.name} alone`, () => once("alone", [], {}));
  const scope = suite.cwd === undefined ? [] : ["--binary-scope", "%redis-server"];
  const under = await step(`${suite.name} under Fulcrum`, () =>
    once("under", [fulcrum, "run", "-q", "--output", record, ...scope, "--"], { LD_PRELOAD: ticker }),
  );
  const differences = [...new Set([...alone.results.keys(), ...under.results.keys()])]
    .map((test) => ({ test, alone: alone.results.get(test) ?? "missing", under: under.results.get(test) ?? "missing" }))
    .filter((it) => it.alone !== it.under);
  for (const it of differences) {
    console.log(`  ${it.test}: alone ${it.alone}, under Fulcrum ${it.under}`);
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
    work: workDone(record),
  };
}

const colour = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, "g");

function withoutColours(text) {
  return text.replaceAll(colour, "");
}

/** What the runtime did meanwhile. */
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

async function versions(redis) {
  if (redis !== undefined) {
    const { stdout } = await runChild([path.join(redis, "src", "redis-server"), "--version"]);
    return stdout.trim();
  }
  const { stdout } = await runChild([
    "dpkg-query",
    "-W",
    "-f",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own placeholders.
    "${Package} ${Version}, ",
    "python3.11",
    "libpython3.11-testsuite",
    "python3.11-dbg",
  ]);
  return `Debian's ${stdout.replace(/, $/, "")}`;
}

function table(rows, version) {
  const lines = [
    `${version}; ${[...new Set(rows.map((row) => row.day))].join(", ")}.`,
    "",
    "| suite | passed alone | skipped | failed alone | other under Fulcrum | processes | samples | experiments |",
    "|---|---:|---:|---:|---:|---:|---:|---:|",
    ...rows.map(({ name, passed, skipped, failed, differences, work }) => {
      const numbers = [passed, skipped, failed, differences.length, work.processes, work.samples, work.experiments];
      return `| ${name} | ${numbers.join(" | ")} |`;
    }),
  ];
  const told = rows.flatMap(({ name, differences, late }) => [
    ...(late ? [`- ${name}: stopped after ${limit} s under Fulcrum.`] : []),
    ...differences.map((it) => `- ${name}, \`${it.test}\`: alone ${it.alone}, under Fulcrum ${it.under}.`),
  ]);
  return [...lines, ...(told.length > 0 ? ["", ...told] : [])].join("\n");
}
