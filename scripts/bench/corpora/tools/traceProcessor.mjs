/**
 * Perfetto's own reader of traces, `trace_processor_shell`: from the PATH, or built from its repository with what the distribution
 * has. Its makers only give it as a download.
 */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root, run, step, tryRun, which } from "../../../lib/steps.mjs";
import { checkOut, repositoryOf } from "../files.mjs";

const folder = path.join(root, "out", "bench", "tools", "perfetto");
const release = "v58.2";
const built = path.join(folder, "out", "shell", "trace_processor_shell");

/** Programs that building it needs; libprotobuf-dev and zlib1g-dev too. */
const builders = ["gn", "ninja", "g++", "protoc", "cargo"];
/** Distributions may have an older SQLite than it needs. This crate contains its source. */
const sqliteCrate = 'libsqlite3-sys = "=0.36.0"';

/** What a trace's samples of stacks do not need is left out, so that everything else is in the distribution. */
const options = {
  is_clang: false,
  is_debug: true,
  is_hermetic_clang: false,
  use_custom_libcxx: false,
  skip_buildtools_check: true,
  perfetto_use_system_protobuf: true,
  perfetto_use_system_sqlite: true,
  perfetto_use_system_zlib: true,
  enable_perfetto_etm_importer: false,
  enable_perfetto_llvm_demangle: false,
  enable_perfetto_re2: false,
  enable_perfetto_stderr_crash_dump: false,
  enable_perfetto_trace_processor_httpd: false,
  enable_perfetto_trace_processor_json: false,
  enable_perfetto_trace_processor_linenoise: false,
  enable_perfetto_trace_processor_mac_instruments: false,
  enable_perfetto_trace_processor_percentile: false,
  enable_perfetto_ui: false,
  enable_perfetto_watchdog: false,
  enable_perfetto_winscope: false,
  enable_perfetto_x64_cpu_opt: false,
  enable_perfetto_zstd: false,
};

/**
 * @param {string | undefined} from where the repositories of the corpora are
 * @returns {Promise<string | undefined>} the program; undefined where it is neither there nor can be built
 */
export async function traceProcessor(from) {
  const installed = which("trace_processor_shell");
  if (installed !== undefined || existsSync(built)) {
    return installed ?? built;
  }
  if (builders.some((program) => which(program) === undefined)) {
    return undefined;
  }
  const repository = await repositoryOf({ name: "Perfetto", repository: "google/perfetto" }, from);
  await step(`Perfetto's trace processor ${release}`, async () => {
    const git = ["--git-dir", repository];
    const known = await tryRun("git", [...git, "rev-parse", "--verify", "--quiet", `${release}^{commit}`]);
    if (known.code !== 0) {
      // A shallow clone has no tags.
      await run("git", [...git, "fetch", "--quiet", "--depth", "1", "origin", "tag", release]);
    }
    // Building needs no recordings and no pictures, which are large.
    await checkOut(repository, [".", ":!docs", ":!test/data"], folder, release);
    const switches = Object.entries(options).map(([name, value]) => `${name}=${value}`);
    await buildSqlite(path.join(folder, "buildtools", "sqlite"));
    const flags = 'extra_cflags="-g0" extra_cxxflags="-g0 -O0" extra_ldflags="-L../../buildtools/sqlite"';
    await run("gn", ["gen", "out/shell", `--args=${switches.join(" ")} ${flags}`], { cwd: folder });
    await run("ninja", ["-C", "out/shell", "trace_processor_shell"], { cwd: folder });
  });
  return built;
}

/** Builds SQLite as a library into a folder, with its headers. */
async function buildSqlite(to) {
  const crate = path.join(to, "crate");
  mkdirSync(path.join(crate, "src"), { recursive: true });
  writeFileSync(path.join(crate, "src", "lib.rs"), "");
  const manifest = `[package]\nname = "sources"\nversion = "0.0.0"\n[dependencies]\n${sqliteCrate}\n[workspace]\n`;
  writeFileSync(path.join(crate, "Cargo.toml"), manifest);
  await run("cargo", ["vendor", "--quiet", "sources"], { cwd: crate });
  for (const file of ["sqlite3.c", "sqlite3.h", "sqlite3ext.h"]) {
    copyFileSync(path.join(crate, "sources", "libsqlite3-sys", "sqlite3", file), path.join(to, file));
  }
  const compile = ["-O1", "-c", "-DSQLITE_THREADSAFE=0", "-DSQLITE_ENABLE_MATH_FUNCTIONS", "sqlite3.c"];
  await run("gcc", compile, { cwd: to });
  await run("ar", ["rc", "libsqlite3.a", "sqlite3.o"], { cwd: to });
}
