/** Prepares what a test editor needs: the extension, the driver with its suite, a workspace, the engine. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { bundleExtension } from "../../scripts/lib/bundle.mjs";
import { root } from "./root.mjs";

/** @type {import("esbuild").BuildOptions} */
const bundle = {
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  sourcemap: "inline",
  logLevel: "warning",
};

const developersBuild = path.join(root, "engine/target/release/fulcrum");
const buildEngine = "cargo build --release --manifest-path engine/Cargo.toml";

/** The engine under test: FULCRUM_ENGINE, or else the developer's build, or else the packaged one. */
export function engineBinary() {
  const candidates = [process.env.FULCRUM_ENGINE, developersBuild, path.join(root, "bin/fulcrum")];
  const found = candidates.find((file) => file !== undefined && file !== "" && existsSync(file));
  if (found === undefined) {
    throw new Error(`There is no engine to test. Run: ${buildEngine}`);
  }
  if (found === developersBuild && isOutdated(found)) {
    throw new Error(`${found} is older than its sources. Run: ${buildEngine}`);
  }
  return path.resolve(found);
}

/**
 * Whether a source has changed since cargo built the binary. An engine with an older protocol fails in ways that look like bugs
 * of the extension. Cargo writes the list of sources beside the binary.
 * @param {string} binary
 */
function isOutdated(binary) {
  const list = `${binary}.d`;
  if (!existsSync(list)) {
    return false;
  }
  const built = statSync(binary).mtimeMs;
  const [, sources = ""] = readFileSync(list, "utf8").trim().split(": ", 2);
  return sources
    .split(/(?<!\\) /)
    .map((source) => source.replaceAll("\\ ", " "))
    .some((source) => (statSync(source, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) > built);
}

/**
 * The engine with its scripted recorder: a run of `PROGRAM` plays `PROGRAM.script` if that file exists (see `play.mjs`).
 * @param {string} engine
 */
export function scriptedEngine(engine) {
  const file = path.join(root, "out", "stage", "fulcrum-scripted");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\nexec '${engine}' "$@" --script script\n`, { mode: 0o755 });
  return file;
}

/** The unpacked extension: FULCRUM_EXTENSION_DIR (an unzipped VSIX), or else one staged from the sources. */
export async function stageExtension() {
  if (process.env.FULCRUM_EXTENSION_DIR) {
    return path.resolve(process.env.FULCRUM_EXTENSION_DIR);
  }
  const folder = path.join(root, "out", "stage", "fulcrum");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(path.join(folder, "dist"), { recursive: true });
  for (const part of ["package.json", "media", "syntaxes", "LICENSE"]) {
    cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  }
  await bundleExtension(path.join(folder, "dist"), { sourcemap: "inline" });
  return folder;
}

/** The file in a workspace that asks the driver to run a suite. The result's file has the suffix `.result`. */
export const hostTests = ".host-tests.json";

/** The driver extension and the bundled suite. */
export async function stageDriver() {
  const folder = path.join(root, "out", "stage", "driver");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(path.join(root, "test/host/driver/package.json"), path.join(folder, "package.json"));
  await build({
    ...bundle,
    entryPoints: {
      driver: path.join(root, "test/host/driver/driver.ts"),
      suite: path.join(root, "test/host/suite.ts"),
    },
    outdir: folder,
  });
  return { folder, suite: path.join(folder, "suite.js") };
}

/** The folder of the fixture's run, named by start time and program. */
export const fixtureRun = "20261121T131500Z-two-threads";

/**
 * The sample runs that ship with the extension. They are real recordings (40 s each) of `serial.cpp`, before and after the
 * first loop was halved. Only paths and dates were changed, so that the other fixture stays the newest run.
 */
export const fixedRuns = { before: "20261121T120000Z-serial", after: "20261121T120500Z-serial" };

/**
 * A new workspace with the sample as it was when the fixture was recorded, that run, and valid and broken profiles.
 * The source is the run's own snapshot, so that changes to the sample do not make these results stale.
 */
export function makeWorkspace() {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "fulcrum-workspace-")));
  const run = path.join(root, "test/fixtures/two-threads-run");
  cpSync(path.join(run, "sources/0-two-threads.cpp"), path.join(folder, "two-threads.cpp"));
  copyRelocated(path.join(root, "test/fixtures/profiles"), folder, folder);
  copyRelocated(run, path.join(folder, ".fulcrum/runs", fixtureRun), folder);
  for (const [which, name] of Object.entries(fixedRuns)) {
    copyRelocated(path.join(root, "media/sample", which), path.join(folder, ".fulcrum/runs", name), folder);
  }
  cpSync(path.join(root, "test/fixtures/navigator"), path.join(folder, "profiles"), { recursive: true });
  mkdirSync(path.join(folder, "fixed"));
  cpSync(path.join(root, "media/sample/after/sources/0-serial.cpp"), path.join(folder, "fixed/serial.cpp"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }) };
}

/**
 * Two traces of a program with one function, which was called 25 times, then 465 times. Returns their folders.
 * @param {string} workspace
 */
export function copyTraces(workspace) {
  const copied = (which, name) => {
    const to = path.join(workspace, ".fulcrum/runs", name);
    copyRelocated(path.join(root, "test/fixtures/traces", which), to, workspace);
    return to;
  };
  return { before: copied("before", "20261121T121000Z-observed"), after: copied("after", "20261121T121500Z-observed") };
}

/** Builds the sample in a workspace, so that a test can run it, and a program for which a short run is enough. */
export function buildSample(folder) {
  mkdirSync(path.join(folder, "build"), { recursive: true });
  cpSync(path.join(root, "test/fixtures/serial.cpp"), path.join(folder, "serial.cpp"));
  const flags = ["-O1", "-g", "-pthread", "-I", path.join(root, "engine/include")];
  for (const name of ["serial", "two-threads"]) {
    const args = [...flags, `${name}.cpp`, "-o", `build/${name}`];
    const result = spawnSync("g++", args, { cwd: folder, encoding: "utf8" });
    if (result.status !== 0) {
      throw new Error(`g++ failed on ${name}.cpp: ${result.stderr || result.error}`);
    }
  }
  return path.join(folder, "build/two-threads");
}

/** Recorded paths are absolute. In the fixtures, `@WORKSPACE@` stands for the folder. */
function copyRelocated(from, to, workspace) {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    if (entry.isDirectory()) {
      copyRelocated(source, path.join(to, entry.name), workspace);
    } else {
      // One character per byte, because event logs are binary.
      const bytes = readFileSync(source, "latin1").replaceAll("@WORKSPACE@", workspace);
      writeFileSync(path.join(to, entry.name), bytes, "latin1");
    }
  }
}
