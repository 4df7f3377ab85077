/**
 * Other people's programs, each with some work: batch programs, which end on their own, and servers, which get requests.
 * Runs alone and recorded are compared by output, answers and exit status.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { root, run, StepError } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { calibrate, cost, invocation, runUnits } from "../lib/measure.mjs";
import { freePorts } from "../lib/ports.mjs";
import { generator, speedup } from "../lib/statistics.mjs";
import { buildBorrowed } from "../others/build.mjs";
import { cozBenchmarks } from "../others/cozBenchmarks.mjs";
import * as from from "./sources.mjs";

const { work, lineOf } = from;
const input = path.join(work, "input");
const pages = path.join(work, "pages");

/**
 * @typedef {object} Work
 * @property {string[]} command
 * @property {string[]} progress lines that are progress points
 * @property {string[]} [options] of `fulcrum run`
 * @property {string} [pidFile] a server's file; the server gets requests until time is up, and is then ended
 * @property {() => Promise<number>} [ask] sends requests for a moment, and returns how many answers were right
 * @property {boolean} [unordered] output lines have any order, and a run may repeat them
 * @property {RegExp} [times] the part of the output that gives the time it took
 * @property {string} [cwd] @property {Record<string, string>} [env]
 * @property {string[]} [marked] the progress points in its source
 *
 * @typedef {Record<string, string>} Folders the folders that the user named
 * @typedef {object} Program
 * @property {string} name
 * @property {(seconds: number, folders: Folders) => Promise<Work>} prepare
 * @property {(seconds: number, folders: Folders) => Promise<object>} [repair] measures the gain of a known fix
 */

/** The keys of folders that cannot be fetched. */
export const keys = ["coz", "phoenix", "pigz", "fiber"];

/** A file of a few megabytes that compresses like source code, repeated in the arguments to take about that long. */
function files(seconds, perSecond) {
  if (!existsSync(input)) {
    const folder = path.join(root, "engine", "crates");
    const all = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((it) => it.endsWith(".rs"));
    const text = all.sort().map((it) => readFileSync(path.join(folder, it), "utf8"));
    writeFileSync(input, text.join(""));
  }
  return Array.from({ length: Math.ceil(seconds * perSecond) }, () => input);
}

const source = (program, ...parts) => path.join(path.dirname(program), ...parts);

async function compressed(program, seconds, perSecond) {
  const arguments_ = ["-p2", "-b1", "-k", "-c", ...files(seconds, perSecond)];
  return {
    command: [program, ...arguments_],
    progress: [lineOf(source(program, "pbzip2.cpp"), "disposeMemory(fileData->buf)", "void *consumer (void *q)")],
  };
}

/** The caller gives how many files per second it compresses, because the cost of sanitizers differs. @returns {Program} */
function sanitized(name, flag, perSecond) {
  return {
    name: `pbzip2 with ${name}`,
    prepare: async (seconds) =>
      compressed(await from.pbzip2(`pbzip2-${flag}`, [`-fsanitize=${flag}`]), seconds, perSecond),
  };
}

async function xz(seconds) {
  const program = await from.xz();
  const file = source(program, "..", "liblzma", "common", "stream_encoder_mt.c");
  return {
    command: [program, "-T2", "-1", "--block-size=256KiB", "-k", "-c", ...files(seconds, 2.5)],
    progress: [lineOf(file, "thr->outbuf->finished = true;")],
  };
}

async function nginx(daemon) {
  const program = await from.nginx();
  mkdirSync(path.join(path.dirname(program), "..", "run", "logs"), { recursive: true });
  mkdirSync(pages, { recursive: true });
  writeFileSync(path.join(pages, "page.html"), "x".repeat(30_000));
  const pidFile = path.join(work, "nginx.pid");
  const configuration = path.join(work, "nginx.conf");
  const [port] = await freePorts(1);
  writeFileSync(
    configuration,
    `daemon ${daemon}; worker_processes 2; pid ${pidFile}; error_log ${work}/nginx.log;
events { worker_connections 512; }
http { access_log off; server { listen 127.0.0.1:${port}; root ${pages}; } }
`,
  );
  const file = path.join(path.dirname(program), "..", "src", "http", "ngx_http_request.c");
  return {
    command: [program, "-c", configuration],
    progress: [
      lineOf(file, 'log->action = "closing request"', "ngx_http_free_request(ngx_http_request_t *r, ngx_int_t rc)"),
    ],
    pidFile,
    ask: async () => {
      const url = `http://127.0.0.1:${port}/page.html`;
      const { stdout } = await runChild(["ab", "-q", "-n", "4000", "-c", "8", url]);
      const right = /^Complete requests: +(\d+)$/m.exec(stdout)?.[1];
      return /^Failed requests: +0$/m.test(stdout) ? Number(right) : 0;
    },
  };
}

async function memcached(more) {
  const [port] = await freePorts(1);
  const program = await from.memcached();
  const pidFile = path.join(work, "memcached.pid");
  const script = path.join(root, "scripts", "bench", "transactions", "memcached.mjs");
  return {
    command: [program, "-u", "root", "-t", "2", "-p", `${port}`, "-l", "127.0.0.1", "-P", pidFile, ...more],
    progress: [lineOf(source(program, "memcached.c"), "c->cmd = -1;", "static void reset_cmd_handler(conn *c) {")],
    pidFile,
    ask: async () => {
      const { code } = await runChild([process.execPath, script, `${port}`, "2000"]);
      return code === 0 ? 2000 : 0;
    },
  };
}

async function redis() {
  const program = await from.redis();
  const pidFile = path.join(work, "redis.pid");
  const [port] = await freePorts(1);
  return {
    command: [program, "--port", `${port}`, "--save", "", "--dir", work, "--pidfile", pidFile, "--daemonize", "no"],
    progress: [lineOf(source(program, "server.c"), "c->cmd->proc(c);")],
    pidFile,
    ask: async () => {
      const asked = ["-p", `${port}`, "-n", "20000", "-c", "8", "-t", "set,get,lpush", "--csv"];
      const { stdout } = await runChild(["redis-benchmark", ...asked]);
      return 20_000 * stdout.split("\n").slice(1).filter(Boolean).length;
    },
  };
}

/** An unprivileged user, because PostgreSQL refuses to run as root. */
const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

async function postgres() {
  const programs = await from.postgres();
  const data = path.join(work, "pgdata");
  const [port] = await freePorts(1);
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data);
  await run("chown", ["65534:65534", data]);
  chmodSync(work, 0o777);
  const as = (...command) => run("setpriv", [...nobody.slice(1), ...command], { cwd: "/" });
  await as(path.join(programs, "initdb"), "-N", "-A", "trust", "-U", "bench", "-D", data);
  const file = path.join(programs, "..", "..", "src", "backend", "tcop", "postgres.c");
  const own = ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${data}`];
  const client = ["-h", "127.0.0.1", "-p", `${port}`, "-U", "bench"];
  let filled = false;
  return {
    command: [...nobody, path.join(programs, "postgres"), "-D", data, "-p", `${port}`, ...own],
    progress: [lineOf(file, "EndCommand(&qc, dest, false);")],
    pidFile: path.join(data, "postmaster.pid"),
    ask: async () => {
      const pgbench = path.join(programs, "pgbench");
      if (!filled) {
        const made = await runChild([pgbench, "-i", "-q", "-s", "2", ...client, "postgres"]);
        filled = made.code === 0;
      }
      const { stdout } = await runChild([pgbench, "-S", "-c", "4", "-t", "8000", ...client, "postgres"]);
      return Number(/actually processed: (\d+)/.exec(stdout)?.[1] ?? 0);
    },
  };
}

async function lua(seconds) {
  const program = await from.lua();
  const script = path.join(work, "queens.lua");
  writeFileSync(
    script,
    `local function place(n, row, columns, up, down)
  if row > n then return 1 end
  local found = 0
  for column = 1, n do
    if not (columns[column] or up[row + column] or down[row - column]) then
      columns[column], up[row + column], down[row - column] = true, true, true
      found = found + place(n, row + 1, columns, up, down)
      columns[column], up[row + column], down[row - column] = nil, nil, nil
    end
  end
  return found
end
for round = 1, tonumber(arg[1]) do
  os.clock()
  assert(place(7, 1, {}, {}, {}) == 40)
end
print("40 each time")
`,
  );
  return {
    command: [program, script, `${Math.ceil(seconds * 5000)}`],
    progress: [lineOf(source(program, "loslib.c"), "lua_pushnumber", "static int os_clock (lua_State *L) {")],
  };
}

async function sqlite(seconds) {
  const program = await from.sqlite();
  const script = path.join(work, "queries.sql");
  const query = "select sum(length(text) * (number % 7)) from lines where text like '%1_3%';\n";
  const rows = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)";
  const fill = `create table lines(number, text);\n${rows} insert into lines select i, hex(i * i) from n;\n`;
  writeFileSync(script, fill + query.repeat(Math.ceil(seconds * 500)));
  return {
    command: [program, "-batch", ":memory:", `.read ${script}`],
    progress: [lineOf(source(program, "shell.c"), "exec_prepared_stmt(pArg, pStmt);", "static int shell_exec(")],
  };
}

async function ripgrep(seconds) {
  const program = await from.ripgrep();
  const folder = path.join(work, "src");
  return {
    command: [program, "-c", "--no-ignore", "(int|char) [a-z]+.*[0-9]{2,}", folder],
    progress: [],
    options: ["--end-to-end", "--duration", `${seconds}`, "--source-scope", "%"],
    unordered: true,
  };
}

async function tokei(seconds) {
  return {
    command: [await from.tokei(), path.join(root, "engine", "crates")],
    progress: [],
    options: ["--end-to-end", "--duration", `${seconds}`, "--source-scope", "%"],
    unordered: true,
  };
}

/** Waits until something answers on this port, for at most half a minute. */
async function listening(port) {
  for (let tries = 0; tries < 300; tries += 1) {
    const socket = connect(port, "127.0.0.1");
    const answered = await new Promise((resolve) => {
      socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    });
    socket.destroy();
    if (answered) {
      return;
    }
    await pause(100);
  }
}

/** A tokio server with Redis's protocol. It writes no file when it is ready, so its shell does. */
async function miniRedis() {
  const program = await from.miniRedis();
  const pidFile = path.join(work, "mini-redis.pid");
  const [port] = await freePorts(1);
  return {
    command: ["sh", "-c", 'echo $$ > "$0"; exec "$@"', pidFile, program, "--port", `${port}`],
    progress: [lineOf(from.crateSource("mini-redis", "src", "server.rs"), "cmd.apply(&self.db")],
    options: ["--source-scope", "%"],
    pidFile,
    ask: async () => {
      await listening(port);
      const asked = ["-p", `${port}`, "-n", "20000", "-c", "8", "-t", "set,get", "--csv"];
      const { stdout } = await runChild(["redis-benchmark", ...asked]);
      return 20_000 * stdout.split("\n").filter((line) => /^"(SET|GET)",/.test(line)).length;
    },
  };
}

/** Builds trees, repeatedly, of sequences of 600 letters that are mutations of each other. */
async function fasttree(seconds) {
  const program = await from.fasttree();
  const file = path.join(work, "sequences.phylip");
  const random = generator(6);
  const letter = () => "ACGT"[Math.floor(4 * random())];
  const sequences = [Array.from({ length: 600 }, letter)];
  while (sequences.length < 60) {
    const parent = sequences[Math.floor(sequences.length * random())] ?? [];
    sequences.push(parent.map((it) => (random() < 0.05 ? letter() : it)));
  }
  const rows = sequences.map((it, number) => `${`s${number}`.padEnd(10)}${it.join("")}\n`);
  const alignment = `${sequences.length} 600\n${rows.join("")}`;
  const command = [program, "-nt", "-quiet", "-nopr", "-gtr"];
  const env = { OMP_NUM_THREADS: "2" };
  writeFileSync(file, alignment);
  const began = performance.now();
  await runChild([...command, file], { env });
  const trees = Math.ceil((1000 * seconds) / (performance.now() - began));
  writeFileSync(file, alignment.repeat(trees));
  const at = "QuartetConstraintPenalties(profiles, nConstraints";
  return {
    command: [...command, "-n", `${trees}`, file],
    progress: [lineOf(`${program}.c`, at, "int nRounds = mlAccuracy")],
    env,
  };
}

async function primes(seconds) {
  const program = await from.primes();
  const file = source(program, "examples", "parallel_reduce", "primes", "primes.cpp");
  return {
    command: [program, "2", "100000000", "1000", `${Math.ceil(seconds * 5)}`],
    progress: [lineOf(file, "multiples.find_primes_in_window(j", "void operator()(const SieveRange& r)")],
    times: /[\d.e-]+ ?s(ec)?\w*|time.*/g,
  };
}

async function pigz(seconds, folders) {
  const program = await from.pigz(folders);
  return {
    command: [program, "-p", "2", "-n", "-k", "-c", ...files(seconds, 4)],
    progress: [lineOf(source(program, "pigz.c"), "twist(job->calc, TO, 1);", "local void compress_thread")],
  };
}

async function fibers(seconds, folders) {
  return {
    command: [await from.fibers(folders)],
    progress: [],
    options: ["--end-to-end", "--duration", `${seconds}`],
    times: /duration: .*/g,
    unordered: true,
  };
}

/** A program of the accuracy table, with its progress points, for the given time. @returns {Program} */
function marked(sample) {
  const title = sample.name.replace("-", ": ");
  return {
    name: title,
    prepare: async (seconds, folders) => {
      const program = await buildBorrowed(sample, { folders });
      const { command, env, cwd } = invocation(program, await calibrate(sample, program, seconds));
      return { command, env, cwd, progress: [], marked: [sample.point] };
    },
    ...(sample.origin.repair && { repair: (seconds, folders) => gainOfRepair(sample, seconds, folders) }),
  };
}

/** Measures the gain of a program's known fix in interleaved rounds. */
async function gainOfRepair(sample, seconds, folders) {
  const [before, after] = [[], []];
  const programs = [await buildBorrowed(sample, { folders }), await buildBorrowed(sample, { folders, repaired: true })];
  const units = await calibrate(sample, programs[0], seconds / 10);
  for (let round = 0; round < 5; round += 1) {
    before.push(cost(sample, await runUnits(programs[0], units)));
    after.push(cost(sample, await runUnits(programs[1], units)));
  }
  return { what: sample.origin.repair.what, ...speedup(before, after) };
}

/** Two programs at the same time, started by make. */
async function make(seconds) {
  const [pbzip2, xz] = [await from.pbzip2("pbzip2"), await from.xz()];
  const rules = path.join(work, "Makefile");
  const many = (count) => files(seconds, count).join(" ");
  writeFileSync(
    rules,
    `.PHONY: all one two
all: one two
one:
	@${pbzip2} -p2 -b1 -k -c ${many(0.7)} | sha256sum
two:
	@${xz} -T2 -1 --block-size=256KiB -k -c ${many(2)} | sha256sum
`,
  );
  const { progress } = await compressed(pbzip2, 1, 1);
  const file = source(xz, "..", "liblzma", "common", "stream_encoder_mt.c");
  return {
    command: ["make", "-s", "-j2", "-f", rules],
    progress: [...progress, lineOf(file, "thr->outbuf->finished = true;")],
    unordered: true,
  };
}

/** @type {Program[]} */
export const programs = [
  { name: "pbzip2, 2 threads", prepare: async (seconds) => compressed(await from.pbzip2("pbzip2"), seconds, 1.4) },
  { name: "xz, 2 threads", prepare: xz },
  { name: "Lua", prepare: lua },
  { name: "SQLite", prepare: sqlite },
  { name: "memcached, 2 threads", prepare: () => memcached([]) },
  { name: "memcached in its own seccomp sandbox", prepare: () => memcached(["-o", "drop_privileges"]) },
  { name: "nginx, 2 workers", prepare: () => nginx("off") },
  { name: "nginx as a daemon", prepare: () => nginx("on") },
  { name: "Redis", prepare: redis },
  { name: "PostgreSQL", prepare: postgres },
  sanitized("AddressSanitizer", "address", 1.5),
  sanitized("ThreadSanitizer", "thread", 0.09),
  sanitized("LeakSanitizer", "leak", 1.2),
  sanitized("UBSan", "undefined", 0.8),
  {
    name: "xz in a sandbox that kills for perf_event_open",
    prepare: async (seconds) => {
      const { command, progress } = await xz(seconds);
      return { command: [await from.sandbox(), "KILL", ...command], progress };
    },
  },
  { name: "make -j2: pbzip2 and xz", prepare: make },
  { name: "ripgrep", prepare: ripgrep },
  { name: "pigz, 2 threads", prepare: pigz },
  { name: "FastTree (OpenMP), 2 threads", prepare: fasttree },
  { name: "primes (TBB), 2 threads", prepare: primes },
  { name: "mini-redis (tokio)", prepare: miniRedis },
  { name: "tokei (rayon)", prepare: tokei },
  { name: "a million fibers (Boost.Fiber)", prepare: fibers },
  ...cozBenchmarks.map(marked),
];

/** The programs with the given names. */
export function chosen(names) {
  const found = programs.filter(({ name }) => names.length === 0 || names.some((it) => name.includes(it)));
  if (found.length === 0) {
    throw new StepError(`There is no such program: choose among ${programs.map(({ name }) => name).join("; ")}.`);
  }
  return found;
}
