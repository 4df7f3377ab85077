/** Programs under measurement: with a time limit, and killed when the user interrupts the benchmark. */
import { spawn } from "node:child_process";
import { StepError } from "../../lib/steps.mjs";

const running = new Set();
let interrupted = false;

/** Ctrl-C ends the running programs. The measurement in progress fails, and finished ones are kept. */
export function stopOnInterrupt() {
  const stop = () => {
    interrupted = true;
    for (const child of running) {
      end(child, "SIGTERM");
    }
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
}

/** The user interrupted the benchmark. */
export class Interrupted extends StepError {
  constructor() {
    super("Stopped. Finished measurements are kept, and --resume continues from there.");
  }
}

/** A child has its own process group, so that wrappers (`coz`) end together with what they started. */
function end(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") {
      throw error;
    }
  }
}

/**
 * Runs a program to its end, or for at most `limit` seconds. Does not throw if the program fails.
 * @param {string[]} command
 * @param {{ env?: Record<string, string>, cwd?: string, limit?: number, until?: AbortSignal }} [options] `until`: the
 *   program has done its work, and is told to end
 * @returns {Promise<{ code: number | null, signal: string | null, stdout: string, stderr: string, late: boolean }>}
 */
export function runChild(command, { env = {}, cwd, limit = 120, until } = {}) {
  if (interrupted) {
    throw new Interrupted();
  }
  const [program, ...args] = command;
  if (program === undefined) {
    throw new Error("No program to run.");
  }
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    running.add(child);
    let late = false;
    const timers = [
      setTimeout(() => {
        late = true;
        end(child, "SIGTERM");
      }, limit * 1000),
      setTimeout(() => end(child, "SIGKILL"), (limit + 5) * 1000),
    ];
    until?.addEventListener("abort", () => {
      if (!running.has(child)) {
        return;
      }
      end(child, "SIGTERM");
      timers.push(setTimeout(() => end(child, "SIGKILL"), 5000));
    });
    const text = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"]) {
      child[stream].setEncoding("utf8").on("data", (chunk) => {
        text[stream] += chunk;
      });
    }
    const done = (finish) => {
      running.delete(child);
      timers.forEach(clearTimeout);
      finish();
    };
    child.on("error", (error) => done(() => reject(new StepError(`${program}: ${error.message}`))));
    child.on("close", (code, signal) =>
      done(() => (interrupted ? reject(new Interrupted()) : resolve({ code, signal, ...text, late }))),
    );
  });
}
