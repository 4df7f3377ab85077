/** Runs other programs: one line per step with its time, and progress while it runs; the full output only after a failure. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { showStatus } from "./status.mjs";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const engine = path.join(root, "engine");
export const target = path.resolve(engine, process.env.CARGO_TARGET_DIR ?? "target");
export const engineBinary = path.join(target, "release", "fulcrum");

/** A failure that the user can act on, printed without a stack trace. */
export class StepError extends Error {}

/**
 * Does one step, shows its progress, and prints how long it took.
 * @template T
 * @param {string} name
 * @param {(say: (what: string) => void) => Promise<T>} work can report what it is doing
 * @returns {Promise<T>}
 */
export async function step(name, work) {
  const start = Date.now();
  const status = showStatus(name);
  let result;
  try {
    result = await work(status.say);
  } finally {
    status.end();
  }
  console.log(`${name.padEnd(34)} ${seconds(Date.now() - start)}`);
  return result;
}

export function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {Record<string, string | undefined>} [env]
 * @property {boolean} [show] pass the output through while it runs
 * @property {(chunk: string) => void} [onError] gets its error output while it runs
 */

/**
 * Runs a program and returns its exit code and output. Does not throw if the program fails.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<{ code: number, output: string, stdout: string }>}
 */
export function tryRun(command, args, { cwd = root, env, show = false, onError } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let stdout = "";
    const take = (chunk, stream) => {
      output += chunk;
      if (stream === process.stdout) {
        stdout += chunk;
      } else {
        onError?.(chunk);
      }
      if (show) {
        stream.write(chunk);
      }
    };
    child.stdout.setEncoding("utf8").on("data", (chunk) => take(chunk, process.stdout));
    child.stderr.setEncoding("utf8").on("data", (chunk) => take(chunk, process.stderr));
    child.on("error", (error) => resolve({ code: 127, output: error.message, stdout: "" }));
    child.on("close", (code, signal) => resolve({ code: code ?? (signal === null ? 1 : 128), output, stdout }));
  });
}

/**
 * Runs a program that must succeed.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 */
export async function run(command, args, options) {
  const result = await tryRun(command, args, options);
  if (result.code !== 0) {
    const shown = [path.basename(command), ...args].join(" ");
    throw new StepError(
      `${withoutAddresses(result.output).trimEnd()}\n\`${shown}\` failed with exit code ${result.code}.`,
    );
  }
  return result;
}

/** Package managers name their registry when they fail. Logs should not contain where this machine gets its packages. */
function withoutAddresses(text) {
  return text.replaceAll(/https?:\/\/\S+/g, "(address)");
}

/** The program's path in PATH. */
export function which(name) {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}

/** Runs a script's main function if the script was started directly, and prints one line for a failure. */
export async function main(url, work) {
  if (process.argv[1] === undefined || path.resolve(process.argv[1]) !== fileURLToPath(url)) {
    return;
  }
  try {
    await work();
  } catch (error) {
    console.error(error instanceof StepError ? error.message : error);
    process.exitCode = 1;
  }
}
