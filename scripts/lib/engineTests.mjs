/**
 * The engine level: every Rust test in its own process.
 *
 * Not plain `cargo test`: it runs one binary after the other, has no time limit for a test, does not record times, and a test
 * that crashes takes down those beside it. Not cargo-nextest, which does all this and more: no package registry has it built
 * (crates.io has its source), and compiling it takes longer than the tests.
 *
 * Cargo builds the test binaries once, and each lists its tests. A name in `engine/test-groups.json` that no test has is an
 * error.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { cargoBuild } from "./cargo.mjs";
import { engine, StepError, seconds, tryRun } from "./steps.mjs";

const groupsFile = path.join(engine, "test-groups.json");

/** The default time limit of a test. */
const limitSeconds = 120;

/** Where a test's output is cut. More would not help. */
const outputLimit = 200_000;

/** How often to print a line, at least. */
const silenceMs = 8000;

/**
 * @typedef {object} EngineTest
 * @property {string} name `crate::module::test`; tests of `tests/it` are `crate::it::module::test`
 * @property {string} binary
 * @property {string} own its name in its binary
 * @property {string} folder the package's folder
 * @property {string} package
 */

/**
 * @typedef {object} Outcome
 * @property {string} name
 * @property {boolean} ok
 * @property {number} ms wall time
 * @property {number} cpuMs CPU time of the test and of the programs that it waited for
 * @property {string} output
 */

/**
 * Builds every test binary of the workspace, and the libraries that tests load into other programs.
 * @param {(what: string) => void} say
 * @returns {Promise<{ binary: string, folder: string, package: string, prefix: string }[]>}
 */
export function buildTests(say) {
  return build(["--lib", "--bins", "--examples", "--tests"], say);
}

/** Builds what `npm run bench -- campaigns` runs. */
export function buildCampaigns(say) {
  return build(["--test", "campaigns"], say);
}

async function build(what, say) {
  const artifacts = await cargoBuild(["--workspace", ...what], say);
  return artifacts.flatMap(({ executable, profile, target, manifest_path: manifest }) => {
    if (!profile.test || executable === null) {
      return [];
    }
    const folder = path.dirname(manifest);
    const crate = path.basename(folder);
    const integration = target.kind.includes("test");
    const prefix = integration ? `${crate}::${target.name}::` : `${crate}::`;
    return [{ binary: executable, folder, package: `fulcrum-${crate}`, prefix }];
  });
}

/**
 * Asks the binaries for their tests.
 * @returns {Promise<EngineTest[]>}
 */
export async function listTests(binaries) {
  /** @type {EngineTest[]} */
  const tests = [];
  for (const { binary, folder, package: name, prefix } of binaries) {
    const { code, stdout, output } = await tryRun(binary, ["--list", "--format", "terse"], { cwd: folder });
    if (code !== 0) {
      throw new StepError(`${output.trimEnd()}\n${path.basename(binary)} does not list its tests.`);
    }
    for (const [, own = ""] of stdout.matchAll(/^(.+): test$/gm)) {
      tests.push({ name: prefix + own, binary, own, folder, package: name });
    }
  }
  const names = new Set(tests.map((it) => it.name));
  if (names.size !== tests.length) {
    const twice = tests.map((it) => it.name).filter((name, at, all) => all.indexOf(name) !== at);
    throw new StepError(`Two tests have one name: ${twice.join(", ")}.`);
  }
  return tests;
}

/** A name in test-groups.json means a test, or, if it ends in `::`, all tests of a module or crate. */
function covers(entry, name) {
  return entry.endsWith("::") ? name.startsWith(entry) : entry === name;
}

/**
 * Reads the groups, and checks that all tests in them exist.
 * @param {EngineTest[]} tests
 */
export function readGroups(tests) {
  const { alone, timing, seconds: limits } = JSON.parse(readFileSync(groupsFile, "utf8"));
  const entries = [...alone, ...timing, ...Object.keys(limits)];
  const unknown = entries.filter((entry) => !tests.some((test) => covers(entry, test.name)));
  if (unknown.length > 0) {
    throw new StepError(`engine/test-groups.json names tests that do not exist: ${unknown.join(", ")}.`);
  }
  return {
    /** Whether a test needs the processor to itself. */
    alone: (test) => alone.some((entry) => covers(entry, test.name)),
    /** Whether a busy machine could change its result, which `npm run bench -- steady` checks. */
    timing: (test) => [...alone, ...timing].some((entry) => covers(entry, test.name)),
    /** A test's time limit in seconds. */
    limit: (test) => Object.entries(limits).find(([entry]) => covers(entry, test.name))?.[1] ?? limitSeconds,
  };
}

/**
 * The campaigns' time limits in seconds, by their names.
 * @param {EngineTest[]} tests all campaigns
 * @returns {Record<string, number>}
 */
export function readCampaigns(tests) {
  const { campaigns } = JSON.parse(readFileSync(groupsFile, "utf8"));
  const [there, listed] = [tests.map(({ name }) => name), Object.keys(campaigns)];
  const odd = [...there.filter((it) => !listed.includes(it)), ...listed.filter((it) => !there.includes(it))];
  if (odd.length > 0) {
    throw new StepError(`engine/test-groups.json must list exactly the campaigns that exist: see ${odd.join(", ")}.`);
  }
  return campaigns;
}

/**
 * Runs one test in its own process group, and kills what is left of that group at the end.
 * @param {EngineTest} test
 * @param {number} limit in seconds
 * @returns {Promise<Outcome>}
 */
export function runTest(test, limit) {
  return new Promise((resolve) => {
    const start = Date.now();
    // The shell reports the CPU time of the test, which Node cannot.
    const script = '"$@" 3>&-; code=$?; times >&3; exit $code';
    const child = spawn("sh", ["-c", script, "sh", test.binary, "--exact", test.own, "--nocapture"], {
      cwd: test.folder,
      // As cargo does. Tests use these to find their files.
      // (FULCRUM_TESTS_BUILT: see test-support/src/libraries.rs.)
      env: { ...process.env, CARGO_MANIFEST_DIR: test.folder, CARGO_PKG_NAME: test.package, FULCRUM_TESTS_BUILT: "1" },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: true,
    });
    let output = "";
    let times = "";
    let late = false;
    const keep = (chunk) => {
      output = (output + chunk).slice(-outputLimit);
    };
    // Node's types do not cover `stdio` beyond the third stream.
    const [, stdout, stderr, clock] = /** @type {import("node:stream").Readable[]} */ (
      /** @type {unknown} */ (child.stdio)
    );
    for (const stream of [stdout, stderr]) {
      stream?.setEncoding("utf8").on("data", keep);
    }
    clock?.setEncoding("utf8").on("data", (chunk) => {
      times += chunk;
    });
    const timer = setTimeout(() => {
      late = true;
      killGroup(child);
    }, limit * 1000);
    const end = (code, reason) => {
      clearTimeout(timer);
      let why = "";
      if (late) {
        why = `\nIt was killed at its time limit of ${limit} s.`;
      } else if (code !== 0) {
        why = `\nIt ended with ${reason}.`;
      } else if (!/^test result: ok\. 1 passed;/m.test(output)) {
        why = "\nIt did not run: a test must neither be ignored nor filtered out.";
      }
      resolve({
        name: test.name,
        ok: why === "",
        ms: Date.now() - start,
        cpuMs: processorTime(times),
        output: output.trimEnd() + why,
      });
    };
    child.on("error", (error) => end(127, error.message));
    // Leftover processes would keep the output open, and use the processor.
    child.on("exit", () => killGroup(child));
    child.on("close", (code, signal) => end(code ?? 1, signal ?? `exit code ${code}`));
  });
}

/** Kills a process and all that it started, except what left its group. */
function killGroup(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") {
      throw error;
    }
  }
}

/** The second line of the shell's `times` is for its children: `0m1.230000s 0m0.040000s`. */
function processorTime(times) {
  const words = times.split("\n")[1] ?? "";
  const parts = [...words.matchAll(/(\d+)m([\d.]+)s/g)];
  return Math.round(parts.reduce((sum, [, minutes, rest]) => sum + 60_000 * Number(minutes) + 1000 * Number(rest), 0));
}

/**
 * Runs tests, as many at a time as there are processors, then those that need the processor to themselves.
 * @param {EngineTest[]} tests
 * @param {ReturnType<typeof readGroups>} groups
 * @param {(line: string) => void} say
 * @param {Map<string, number>} [known] times of an earlier run; the longest test starts first
 * @returns {Promise<Outcome[]>}
 */
export async function runTests(tests, groups, say, known = new Map()) {
  const outcomes = [];
  const running = new Set();
  const status = () => {
    const longest = [...running][0];
    const beside = longest === undefined ? "" : `, at ${longest.name}`;
    say(`${outcomes.length} of ${tests.length}${beside}`);
  };
  const timer = setInterval(status, silenceMs);
  const work = async (queue) => {
    for (let test = queue.shift(); test !== undefined; test = queue.shift()) {
      running.add(test);
      const outcome = await runTest(test, groups.limit(test));
      running.delete(test);
      outcomes.push(outcome);
      if (!outcome.ok) {
        say(`FAILED ${test.name} (${seconds(outcome.ms)})`);
      }
    }
  };
  try {
    const time = (test) => known.get(test.name) ?? 0;
    const together = tests.filter((test) => !groups.alone(test)).sort((a, b) => time(b) - time(a));
    await Promise.all(Array.from({ length: availableParallelism() }, () => work(together)));
    await work(tests.filter((test) => groups.alone(test)));
  } finally {
    clearInterval(timer);
  }
  return outcomes;
}

/**
 * Runs the examples in documentation comments, of the whole workspace, because single crates would have other features and
 * be built again.
 * @returns {Promise<Outcome[]>}
 */
export async function runDocTests() {
  const start = Date.now();
  const { code, output } = await tryRun("cargo", ["test", "--release", "--doc", "--quiet", "--workspace"], {
    cwd: engine,
  });
  const ms = Date.now() - start;
  const counts = [...output.matchAll(/^test result: .*? (\d+) passed; (\d+) failed/gm)];
  const ran = counts.reduce((sum, [, passed]) => sum + Number(passed), 0);
  return [{ name: `documentation (${ran} examples)`, ok: code === 0 && ran > 0, ms, cpuMs: 0, output }];
}
