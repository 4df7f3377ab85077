/** Other people's programs from the distribution's source packages, built with debug information. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { root, run, StepError, step } from "../../lib/steps.mjs";
import { named } from "../others/build.mjs";
import { edited } from "../others/edits.mjs";

export const work = path.join(root, "out", "bench", "programs");
const sources = path.join(work, "src");
const apt = path.join(work, "apt");
const done = ".built";
const jobs = ["-j2"];
const flags = "CFLAGS=-g -O2";

/** Packages needed for building, with files that show that they are installed. */
const headers = {
  "libevent-dev": "/usr/include/event2/event.h",
  "libseccomp-dev": "/usr/include/seccomp.h",
  "zlib1g-dev": "/usr/include/zlib.h",
  "dpkg-dev": "/usr/bin/dpkg-source",
  tcl: "/usr/bin/tclsh",
  "libtbb-dev": "/usr/include/oneapi/tbb.h",
  "libboost-fiber-dev": "/usr/include/boost/fiber/all.hpp",
};

/** Installs the missing ones of these packages. */
export async function install(packages) {
  const missing = packages.filter((name) => !existsSync(headers[name] ?? `/usr/share/doc/${name}`));
  if (missing.length > 0) {
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    await run("apt-get", ["update", "-qq"], { env });
    await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing], { env });
  }
}

/** apt's options for our own list of sources, so that the machine's lists are not changed. */
function aptOptions() {
  const lists = path.join(apt, "lists");
  mkdirSync(path.join(lists, "partial"), { recursive: true });
  const list = path.join(apt, "sources.list");
  if (!existsSync(list)) {
    writeFileSync(list, sourceLines());
  }
  return [`Dir::Etc::sourcelist=${list}`, "Dir::Etc::sourceparts=-", `Dir::State::lists=${lists}`].flatMap((it) => [
    "-o",
    it,
  ]);
}

/** The sources come from where this machine gets its packages. */
function sourceLines() {
  const folder = "/etc/apt/sources.list.d";
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".sources"))) {
    for (const stanza of readFileSync(path.join(folder, file), "utf8").split(/\n\n+/)) {
      const field = (name) => new RegExp(`^${name}: *(.*)$`, "m").exec(stanza)?.[1];
      const [uri, suites, key] = ["URIs", "Suites", "Signed-By"].map(field);
      if (uri?.endsWith("/debian") && suites !== undefined) {
        return `deb-src [signed-by=${key}] ${uri} ${suites.split(" ")[0]} main\n`;
      }
    }
  }
  throw new StepError(`${folder} names no sources of Debian packages, which these programs are built from.`);
}

/** The unpacked source of a package. */
export async function source(name) {
  const folder = path.join(sources, name);
  if (existsSync(folder)) {
    return folder;
  }
  mkdirSync(sources, { recursive: true });
  await install(["dpkg-dev"]);
  const options = aptOptions();
  if (readdirSync(path.join(apt, "lists")).length < 3) {
    await run("apt-get", ["update", ...options]);
  }
  await run("apt-get", ["source", "--download-only", ...options, name], { cwd: sources });
  const description = readdirSync(sources).find((file) => file.startsWith(`${name}_`) && file.endsWith(".dsc"));
  await run("dpkg-source", ["--no-check", "-x", description ?? "", folder], { cwd: sources });
  return folder;
}

/**
 * A folder with a package's source, built by `commands` once.
 * @param {string} name the folder's name
 * @param {string} from the package
 * @param {(folder: string) => string[][]} commands
 */
export async function built(name, from, commands) {
  const folder = path.join(work, "built", name);
  const mark = path.join(folder, done);
  const lines = commands(folder);
  const key = JSON.stringify(lines);
  if (existsSync(mark) && readFileSync(mark, "utf8") === key) {
    return folder;
  }
  const unpacked = await source(from);
  await step(`build ${name}`, async () => {
    rmSync(folder, { recursive: true, force: true });
    // The copied files must not look older than their sources, or make would regenerate them.
    cpSync(unpacked, folder, { recursive: true, preserveTimestamps: true });
    for (const [program = "", ...args] of lines) {
      await run(program, args, { cwd: folder });
    }
    writeFileSync(mark, key);
  });
  return folder;
}

/** pbzip2 and its bzip2 library, compiled with these additional flags. */
export async function pbzip2(name, more = []) {
  const bzip2 = await source("bzip2");
  const library = ["blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib"];
  const folder = await built(name, "pbzip2", () => [
    ["gcc", "-g", "-O2", "-w", ...more, "-c", ...library.map((it) => path.join(bzip2, `${it}.c`))],
    [
      ...["g++", "-g", "-O2", "-w", "-pthread", "-DUSE_STACKSIZE_CUSTOMIZATION", ...more, "-I", bzip2],
      ...["pbzip2.cpp", "BZ2StreamScanner.cpp", "ErrorContext.cpp", ...library.map((it) => `${it}.o`), "-o", "pbzip2"],
    ],
  ]);
  return path.join(folder, "pbzip2");
}

export const xz = async () => {
  const parts = ["--disable-nls", "--disable-scripts", "--disable-doc", "--disable-lzmadec", "--disable-lzmainfo"];
  const folder = await built("xz", "xz-utils", () => [
    ["sh", "./configure", "-q", "--disable-shared", ...parts, flags],
    ["make", "-s", ...jobs, "-C", "src/liblzma"],
    ["make", "-s", "-C", "src/xz"],
  ]);
  return path.join(folder, "src", "xz", "xz");
};

export const lua = async () => {
  const files = "src/l[!u]*.c src/lu[!a]*.c src/lua.c";
  const define = `echo '#define DEB_HOST_MULTIARCH ""' > src/lua5.4-deb-multiarch.h`;
  const folder = await built("lua", "lua5.4", () => [
    ["sh", "-c", define],
    ["sh", "-c", `gcc -g -O2 -w -std=gnu99 -DLUA_USE_LINUX ${files} -Wl,-E -lm -ldl -o src/lua`],
  ]);
  return path.join(folder, "src", "lua");
};

export const sqlite = async () => {
  await install(["tcl"]);
  const output = "-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION";
  const folder = await built("sqlite", "sqlite3", () => [
    ["sh", "./configure", "-q", "--disable-tcl", "--disable-readline"],
    ["make", "-s", ...jobs, "sqlite3.c", "shell.c"],
    ["gcc", "-g", "-O2", "-w", ...output.split(" "), "shell.c", "sqlite3.c", "-lm", "-o", "shell"],
  ]);
  return path.join(folder, "shell");
};

export const nginx = async () => {
  const without = ["rewrite", "gzip", "charset", "ssi", "fastcgi", "uwsgi", "scgi", "grpc", "memcached", "proxy"];
  const options = without.map((it) => `--without-http_${it}_module`);
  const folder = await built("nginx", "nginx", (it) => [
    ["sh", "./configure", `--prefix=${it}/run`, "--with-cc-opt=-g -O2", "--with-threads", ...options],
    ["make", "-s", ...jobs],
  ]);
  return path.join(folder, "objs", "nginx");
};

export const redis = async () => {
  const folder = await built("redis", "redis", () => [
    [
      "make",
      "-s",
      ...jobs,
      "-C",
      "src",
      "redis-server",
      "MALLOC=libc",
      "OPTIMIZATION=-O2",
      "USE_SYSTEMD=no",
      "BUILD_TLS=no",
    ],
  ]);
  return path.join(folder, "src", "redis-server");
};

export const memcached = async () => {
  await install(["libevent-dev", "libseccomp-dev"]);
  const folder = await built("memcached", "memcached", () => [
    ["sh", "./configure", "-q", "--enable-seccomp", "--disable-docs", flags],
    ["make", "-s", ...jobs, "memcached"],
  ]);
  return path.join(folder, "memcached");
};

/** PostgreSQL's programs, installed. */
export const postgres = async () => {
  const without = ["--without-readline", "--without-zlib", "--without-icu"];
  const parts = ["src/backend", "src/timezone", "src/backend/snowball", "src/backend/utils/mb/conversion_procs"];
  const clients = ["src/interfaces/libpq", "src/bin/initdb", "src/bin/psql", "src/bin/pgbench"];
  const folder = await built("postgres", "postgresql-15", (it) => [
    ["sh", "./configure", "-q", `--prefix=${it}/run`, ...without, flags],
    ["make", "-s", ...jobs, "-C", "src/backend", "generated-headers"],
    ...[...parts, "src/pl/plpgsql/src", "src/include", ...clients].map((part) => [
      "make",
      "-s",
      ...jobs,
      "-C",
      part,
      "install",
    ]),
  ]);
  return path.join(folder, "run", "bin");
};

/** FastTree with OpenMP. */
export const fasttree = async () => {
  const folder = await built("fasttree", "fasttree", () => [
    ["gcc", "-g", "-O2", "-w", "-DOPENMP", "-fopenmp", "fasttree.c", "-lm", "-o", "fasttree"],
  ]);
  return path.join(folder, "fasttree");
};

/** TBB's example: primes by `parallel_reduce`. */
export const primes = async () => {
  await install(["libtbb-dev"]);
  const example = "examples/parallel_reduce/primes";
  const folder = await built("primes", "onetbb", () => [
    [
      ...["g++", "-g", "-O2", "-w", "-pthread", "-I", "examples"],
      ...[`${example}/main.cpp`, `${example}/primes.cpp`, "-ltbb", "-o", "primes"],
    ],
  ]);
  return path.join(folder, "primes");
};

/** pigz from a checkout that the user names. */
export const pigz = async (folders) => {
  const folder = await checkout("pigz", "pigz's source", "pigz.c", folders);
  await run("make", ["-s", ...jobs, "pigz", flags], { cwd: folder });
  return path.join(folder, "pigz");
};

/** A million fibers, from a checkout of Boost.Fiber that the user names. Their default stack of one page is too small here. */
export const fibers = async (folders) => {
  const folder = await checkout("fiber", "Boost.Fiber's source", "performance/fiber/skynet_join.cpp", folders);
  await install(["libboost-fiber-dev"]);
  const file = path.join(folder, "performance", "fiber", "skynet_join.cpp");
  const stack = { at: "salloc{ allocator_type", with: [["salloc{", "salloc{ 8 *"]] };
  writeFileSync(file, edited(readFileSync(file, "utf8"), [stack], "skynet_join.cpp"));
  const program = path.join(path.dirname(file), "skynet_join");
  await run("g++", ["-g", "-O2", "-w", "-pthread", file, "-lboost_fiber", "-lboost_context", "-o", program]);
  return program;
};

/** A copy, for building, of a folder that the user names. */
async function checkout(key, what, sign, folders) {
  const from = await named(key, what, sign)(folders);
  const folder = path.join(work, "built", key);
  cpSync(from, folder, { recursive: true, preserveTimestamps: true });
  return folder;
}

/** A program from a crate. */
async function installed(crate, name) {
  const folder = path.join(work, "built", crate);
  const program = path.join(folder, "bin", name);
  if (!existsSync(program)) {
    const env = { CARGO_PROFILE_RELEASE_DEBUG: "1", CARGO_TARGET_DIR: path.join(folder, "target") };
    const args = ["install", "--quiet", "--locked", "--root", folder, crate];
    await step(`build ${crate}`, () => run("cargo", args, { env }));
  }
  return program;
}

export const ripgrep = () => installed("ripgrep", "rg");
/** A program that counts lines with rayon. */
export const tokei = () => installed("tokei", "tokei");
/** tokio's example server. */
export const miniRedis = () => installed("mini-redis", "mini-redis-server");

/** The newest unpacked source of a crate. */
export function crateSource(crate, ...parts) {
  const registry = path.join(process.env.CARGO_HOME ?? path.join(homedir(), ".cargo"), "registry", "src");
  const found = readdirSync(registry)
    .flatMap((name) => readdirSync(path.join(registry, name)).map((it) => path.join(registry, name, it)))
    .filter((it) => new RegExp(`^${crate}-\\d`).test(path.basename(it)))
    .sort();
  if (found.length === 0) {
    throw new StepError(`cargo has not unpacked the source of ${crate}.`);
  }
  return path.join(found.at(-1), ...parts);
}

/** The launcher of this repository's tests that makes the system kill programs which call perf_event_open. */
export const sandbox = async () => {
  const file = path.join(root, "engine", "crates", "recorder", "tests", "programs", "without_perf.c");
  const program = path.join(work, "built", "sandbox");
  mkdirSync(path.dirname(program), { recursive: true });
  await run("gcc", ["-O1", "-w", file, "-o", program]);
  return program;
};

/** `FILE:LINE` of the first line that has `text`, after the first that has `after`. */
export function lineOf(file, text, after = "") {
  const lines = readFileSync(file, "utf8").split("\n");
  const from = lines.findIndex((line) => line.includes(after));
  const at = lines.findIndex((line, number) => number >= from && line.includes(text));
  if (from < 0 || at < 0) {
    throw new StepError(`${file} has no line with ${text} after ${after}: it is a different version.`);
  }
  return `${path.basename(file)}:${at + 1}`;
}
