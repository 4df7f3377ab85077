/**
 * Recordings of other people's programs, made by the tools themselves when the benchmark runs: of formats of which there are too few in
 * public repositories, because they are large, belong to programs that must be there, or are read by their own tool only.
 */
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root, run, StepError, tryRun, which } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { checkOut, repositoryOf } from "./files.mjs";
import { python } from "./tools/python.mjs";
import { simpleperfProgram } from "./tools/simpleperf.mjs";

const folder = path.join(root, "out", "bench", "corpora", "files", "recorded");
const typescript = path.join(root, "node_modules", "typescript", "lib");

/**
 * @typedef {object} Recording
 * @property {string} name
 * @property {string} format whose tool compares it, see tools.mjs
 * @property {string[]} needs programs
 * @property {(to: string, from: string | undefined) => Promise<{ file: string, recording?: string } | undefined>} make `file` is what
 *   Fulcrum opens, and `recording` what its own tool reads, where that is another; undefined where this machine cannot record it.
 *   `from` has the repositories, if not the network
 */

/** Nothing that it has debug information of: inlined functions are frames of their own for Fulcrum, which perf calls otherwise. */
const unwound = {
  xz: ["-6", "-k", "-c", path.join(typescript, "typescript.js")],
  gzip: ["-9", "-k", "-c", path.join(typescript, "typescript.js")],
  bzip2: ["-9", "-k", "-c", path.join(typescript, "typescript.js")],
};

/** Modules of Python's own library, as programs; NAME stands for a file of the library. */
const modules = [
  ["tokenize", "argparse.py"],
  ["tabnanny", "asyncio"],
  ["ast", "typing.py"],
];

/** Packages of Go's own library, whose benchmarks run. */
const packages = ["sort", "regexp", "compress/flate"];

/** Programs, and the keys of the map that counts their stacks. */
const traced = {
  gzip: ["ustack, comm", ["gzip", "-9", "-k", "-c", path.join(typescript, "typescript.js")]],
  bzip2: ["ustack", ["bzip2", "-9", "-k", "-c", path.join(typescript, "typescript.js")]],
  dd: ["kstack", ["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=200000"]],
};

/** Programs of GHC's own benchmark, with their arguments and input. */
const haskell = {
  infer: { input: "infer.slowstdin" },
  fulsom: { args: ["7"] },
  cacheprof: { input: "cacheprof.slowstdin" },
};

const php = {
  "composer-list": ["/usr/bin/composer", "list"],
  "composer-about": ["/usr/bin/composer", "about"],
  "composer-help": ["/usr/bin/composer", "help", "require"],
};

/** @type {Recording[]} */
export const recordings = [
  ...Object.entries(unwound).map(([program, args]) => ({
    name: `${program}.perf.data`,
    format: "copied stacks",
    needs: ["perf", program],
    make: async (file) => {
      const options = ["-q", "-e", "cpu-clock:u", "-F", "499", "--call-graph", "dwarf,16384", "-o", file];
      const { code } = await runChild(["perf", "record", ...options, "--", program, ...args]);
      return code === 0 ? { file } : undefined;
    },
  })),
  ...Object.entries(traced).map(([program, [keys, command]]) => ({
    name: `${program}.bpftrace`,
    format: "bpftrace",
    needs: ["bpftrace", program],
    make: async (file) => {
      const script = `profile:hz:499 /pid == cpid/ { @[${keys}] = count(); }`;
      // It wants the path of the program.
      const started = [which(program), ...command.slice(1)].join(" ");
      const { code } = await runChild(["bpftrace", "-o", file, "-e", script, "-c", started]);
      return code === 0 ? { file } : undefined;
    },
  })),
  ...packages.map((name) => ({
    name: `${path.basename(name)}.go-trace`,
    format: "Go trace",
    needs: ["go"],
    make: async (file) => {
      const benchmarks = ["-run", "^$", "-bench", ".", "-benchtime", "20ms"];
      const outputs = ["-trace", file, "-cpuprofile", `${file}.pb.gz`, "-o", `${file}.test`];
      const { code } = await runChild(["go", "test", ...benchmarks, ...outputs, name]);
      return code === 0 ? { file } : undefined;
    },
  })),
  ...modules.flatMap(([module, of]) => [
    {
      name: `${module}.memray.json`,
      format: "memray",
      needs: ["python3"],
      make: async (file) => {
        const recording = file.replace(/json$/, "bin");
        await run(await python(), [
          "-m",
          "memray",
          "run",
          "-q",
          "-f",
          "-o",
          recording,
          "-m",
          module,
          await library(of),
        ]);
        await run(await python(), ["-m", "memray", "transform", "gprof2dot", "-f", "-o", file, recording]);
        return { file, recording };
      },
    },
    {
      name: `${module}.pyisession`,
      format: "pyinstrument",
      needs: ["python3"],
      make: async (file) => {
        await run(await python(), ["-m", "pyinstrument", "-r", "session", "-o", file, "-m", module, await library(of)]);
        return { file, recording: file };
      },
    },
    {
      name: `${module}.pyinstrument.json`,
      format: "pyinstrument",
      needs: ["python3"],
      make: async (file) => {
        const recording = file.replace(/pyinstrument\.json$/, "pyisession");
        await run(await python(), ["-m", "pyinstrument", "--load", recording, "-r", "json", "-o", file]);
        return { file, recording };
      },
    },
  ]),
  {
    name: "tokenize.scalene.json",
    format: "Scalene",
    needs: ["python3"],
    make: async (file) => {
      const program = ["---", await library("tokenize.py"), await library("_pydecimal.py")];
      await run(await python(), ["-m", "scalene", "run", "--cpu-only", "--profile-all", "-o", file, ...program]);
      return existsSync(file) ? { file } : undefined;
    },
  },
  ...["es5", "dom"].flatMap((lib) => [
    {
      name: `tsc-${lib}.v8log.json`,
      format: "V8 log",
      needs: ["node"],
      make: async (file) => {
        const recording = file.replace(/json$/, "log");
        const program = [path.join(root, "node_modules", "typescript", "bin", "tsc"), "--noEmit", "--noLib"];
        const options = ["--prof", `--logfile=${recording}`, "--no-logfile-per-isolate"];
        await runChild(["node", ...options, ...program, path.join(typescript, `lib.${lib}.d.ts`)]);
        writeFileSync(file, (await run("node", ["--prof-process", "--preprocess", recording])).stdout);
        return { file, recording };
      },
    },
  ]),
  {
    name: "tsc.heapprofile",
    format: "heapprofile",
    needs: ["node"],
    make: async (file) => {
      const program = [path.join(root, "node_modules", "typescript", "bin", "tsc"), "--noEmit", "--noLib"];
      const options = ["--heap-prof", "--heap-prof-interval=4096", `--heap-prof-dir=${folder}`];
      await runChild([
        "node",
        ...options,
        `--heap-prof-name=${path.basename(file)}`,
        ...program,
        path.join(typescript, "lib.es5.d.ts"),
      ]);
      return existsSync(file) ? { file } : undefined;
    },
  },
  ...["dhat", "massif"].map((tool) => ({
    name: `sqlite3.${tool}`,
    format: { dhat: "DHAT", massif: "massif" }[tool],
    needs: ["valgrind", "sqlite3"],
    make: async (file) => {
      const often = tool === "massif" ? ["--detailed-freq=5"] : [];
      const query = "create table t (a); insert into t values (1), (2); select sum(a) from t, t u group by t.a";
      await runChild([
        "valgrind",
        "-q",
        `--tool=${tool}`,
        `--${tool}-out-file=${file}`,
        ...often,
        "sqlite3",
        ":memory:",
        query,
      ]);
      return existsSync(file) ? { file } : undefined;
    },
  })),
  {
    name: "gzip.simpleperf.trace",
    format: "simpleperf",
    needs: ["gzip", "python3"],
    make: async (file) => {
      const program = await simpleperfProgram();
      if (program === undefined) {
        return undefined;
      }
      const data = file.replace(/trace$/, "data");
      const input = path.join(typescript, "typescript.js");
      const options = ["record", "-g", "-e", "cpu-clock", "-o", data];
      const { code } = await runChild([program, ...options, "gzip", "-9", "-k", "-c", input]);
      if (code !== 0) {
        return undefined;
      }
      await run(program, ["report-sample", "--protobuf", "--show-callchain", "-i", data, "-o", file]);
      return { file };
    },
  },
  ...Object.entries(haskell).map(([program, { args = [], input = "Makefile" }]) => ({
    name: `${program}.haskell.json`,
    format: "Haskell",
    needs: ["ghc"],
    make: async (file, from) => {
      const nofib = { name: "nofib", repository: "ghc/nofib" };
      const sources = await checkOut(await repositoryOf(nofib, from), ["common", `real/${program}`], `${file}.sources`);
      const cwd = path.join(sources, "real", program);
      const built = ["-v0", "-w", "-cpp", "-O1", "-prof", "-fprof-auto", "-rtsopts", "-o", "profiled", "Main.hs"];
      const { code, output } = await tryRun("ghc", built, { cwd });
      if (output.includes("profiling libraries")) {
        return undefined;
      }
      if (code !== 0) {
        throw new StepError(`${output}\nGHC does not build ${program}.`);
      }
      const profiled = (options) =>
        run("sh", ["-c", `exec ./profiled "$@" < ${input}`, "sh", ...args, "+RTS", ...options, "-RTS"], { cwd });
      await profiled(["-pj", "-poas-json"]);
      await profiled(["-P", "-poas-text"]);
      renameSync(path.join(cwd, "as-json.prof"), file);
      renameSync(path.join(cwd, "as-text.prof"), `${file}.txt`);
      return { file, recording: `${file}.txt` };
    },
  })),
  ...Object.entries(php).flatMap(([name, command]) => [
    {
      name: `${name}.excimer.folded`,
      format: "Excimer",
      needs: ["php", "composer"],
      make: async (file) => {
        const before = path.join(import.meta.dirname, "tools", "excimer.php");
        const options = ["-d", "xdebug.mode=off", "-d", `auto_prepend_file=${before}`];
        await runChild(["php", ...options, ...command], { env: { ...composer, EXCIMER: file } });
        return existsSync(`${file}.json`) ? { file, recording: `${file}.json` } : undefined;
      },
    },
    {
      name: `${name}.xdebug`,
      format: "Xdebug",
      needs: ["php", "composer"],
      make: async (file) => {
        const settings = {
          mode: "profile",
          start_with_request: "yes",
          output_dir: folder,
          profiler_output_name: path.basename(file),
          use_compression: "0",
        };
        const options = Object.entries(settings).flatMap(([key, value]) => ["-d", `xdebug.${key}=${value}`]);
        await runChild(["php", ...options, ...command], { env: composer });
        return existsSync(file) ? { file } : undefined;
      },
    },
  ]),
];

const composer = { COMPOSER_ALLOW_SUPERUSER: "1", COMPOSER_ALLOW_XDEBUG: "1" };

async function library(file) {
  const { stdout } = await run(await python(), ["-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'])"]);
  return path.join(stdout.trim(), file);
}

/**
 * Makes a recording; undefined where this machine lacks a program.
 * @param {Recording} recording
 * @param {string | undefined} from the folder with repositories
 */
export async function record({ name, needs, make }, from) {
  if (needs.some((program) => which(program) === undefined)) {
    return undefined;
  }
  mkdirSync(folder, { recursive: true });
  return make(path.join(folder, name), from);
}
