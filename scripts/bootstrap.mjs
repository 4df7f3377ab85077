/**
 * From a clean clone to something that runs: tools, npm packages, engine, extension. Needs only Node.
 * Every step is skipped or quick if its result exists.
 */
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { bundleExtension } from "./lib/bundle.mjs";
import { cargoBuild } from "./lib/cargo.mjs";
import { engine, main, root, run, step, target } from "./lib/steps.mjs";
import { checkTools } from "./lib/tools.mjs";

/** Everything that `npm start`, `npm test` and `npm run package` need. */
export async function bootstrap({ tests = false } = {}) {
  await checkTools({ tests });
  // npm mostly waits for the network, the compiler never does.
  await Promise.all([installPackages(), buildEngine()]);
  await buildExtension();
}

/**
 * Builds only what records and shows a causal profile, about two thirds of the engine, unless everything is built already.
 * Returns the path of the command, and whether everything is built.
 */
export async function bootstrapCausal() {
  const fulcrum = path.join(root, "bin", "fulcrum");
  if (existsSync(fulcrum)) {
    await bootstrap();
    return { fulcrum, whole: true };
  }
  await checkTools({ tests: false });
  await Promise.all([installPackages(), buildCausal()]);
  return { fulcrum: path.join(root, "out", "causal", "fulcrum"), whole: false };
}

/** Installs the npm packages in package-lock.json, unless they are installed. No package's script runs. */
export async function installPackages() {
  const lock = readFileSync(path.join(root, "package-lock.json"));
  const stamp = createHash("sha256").update(lock).digest("hex");
  const file = path.join(root, "node_modules", ".fulcrum-stamp");
  if (existsSync(file) && readFileSync(file, "utf8") === stamp) {
    return;
  }
  await step("npm packages", async () => {
    // Not `npm ci`, which refuses a lock file without other platforms' optional binaries.
    await run("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    writeFileSync(file, stamp);
  });
}

/** Builds the part of the engine for causal profiling. */
async function buildCausal() {
  await step("engine, causal profiling", async (say) => {
    await cargoBuild(["-p", "fulcrum-cli", "--no-default-features", "-p", "fulcrum-runtime"], say);
    await placeAll(path.join(root, "out", "causal"), ["fulcrum", "libfulcrum_runtime.so"]);
  });
}

/** Builds the engine, and the libraries that it loads into programs. */
export async function buildEngine() {
  await step("engine", async (say) => {
    const libraries = ["runtime", "jvm-agent", "native-agent", "transaction-runtime"];
    await cargoBuild(
      ["cli", ...libraries].flatMap((name) => ["-p", `fulcrum-${name}`]),
      say,
    );
    const files = libraries.map((name) => `libfulcrum_${name.replaceAll("-", "_")}.so`);
    await placeAll(path.join(root, "bin"), ["fulcrum", ...files]);
    placeProgressPoints(path.join(root, "bin", "include"));
  });
}

/** What programs need for progress points: the header for C and C++, the crate for Rust. */
export function placeProgressPoints(folder) {
  const crate = path.join(folder, "fulcrum-progress");
  rmSync(crate, { recursive: true, force: true });
  mkdirSync(crate, { recursive: true });
  copyFileSync(path.join(engine, "include", "fulcrum.h"), path.join(folder, "fulcrum.h"));
  copyFileSync(path.join(engine, "include", "fulcrum-progress.toml"), path.join(crate, "Cargo.toml"));
  cpSync(path.join(engine, "crates", "progress", "src"), path.join(crate, "src"), { recursive: true });
}

/** Copies what cargo built into a folder. */
async function placeAll(folder, names) {
  for (const name of names) {
    await place(path.join(target, "release", name), path.join(folder, name));
  }
}

/** Copies a binary without its debug information. A copy in use is replaced, never overwritten in place. */
async function place(from, to) {
  mkdirSync(path.dirname(to), { recursive: true });
  const partial = `${to}.${process.pid}`;
  try {
    await run("objcopy", ["--strip-debug", from, partial]);
    renameSync(partial, to);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Bundles the extension and its webviews into dist. */
export async function buildExtension() {
  await step("extension", () => bundleExtension(path.join(root, "dist"), { minify: true, sourcemap: "linked" }));
}

await main(import.meta.url, bootstrap);
