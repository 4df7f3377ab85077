/** A program's time and peak memory, and a navigator that answers one command at a time. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { StepError } from "../../lib/steps.mjs";

/**
 * Runs a program to its end, its output thrown away.
 * @param {string[]} command
 * @returns {Promise<{ seconds: number, megabytes: number }>} elapsed time and peak resident memory
 */
export function measure([program, ...args]) {
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint();
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      stderr += chunk;
    });
    let kilobytes = 0;
    const look = () => {
      kilobytes = Math.max(kilobytes, peak(child.pid));
    };
    const timer = setInterval(look, 5);
    child.on("error", (error) => {
      clearInterval(timer);
      reject(new StepError(`${program}: ${error.message}`));
    });
    child.on("exit", (code, signal) => {
      const seconds = Number(process.hrtime.bigint() - start) / 1e9;
      clearInterval(timer);
      if (code === 0) {
        resolve({ seconds, megabytes: kilobytes / 1000 });
      } else {
        reject(new StepError(`${stderr}\n\`${[program, ...args].join(" ")}\` ended with ${signal ?? code}.`));
      }
    });
  });
}

/** The kernel's own high-water mark: only what is used for the first time in the last moments can be missed. */
function peak(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch (error) {
    // It has ended.
    if (error.code === "ENOENT" || error.code === "ESRCH") {
      return 0;
    }
    throw error;
  }
}

/** `fulcrum navigate --json`, told one command after the other. */
export class Navigator {
  constructor(program, args) {
    this.child = spawn(program, ["navigate", "--json", ...args], { stdio: ["pipe", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  /**
   * The answer to a command, and how long it took: from its sending until the whole answer is here.
   * @param {string} command
   * @returns {Promise<{ answer: object, ms: number }>}
   */
  async ask(command) {
    const start = process.hrtime.bigint();
    this.child.stdin.write(`${command}\n`);
    const { value, done } = await this.lines.next();
    const ms = Number(process.hrtime.bigint() - start) / 1e6;
    if (done) {
      throw new StepError(`\`fulcrum navigate\` ended at \`${command}\`.`);
    }
    const answer = JSON.parse(value);
    if (answer.error !== undefined) {
      throw new StepError(`\`${command}\`: ${answer.error}`);
    }
    return { answer, ms };
  }

  /** Processor time of all its threads so far, in milliseconds. */
  cpu() {
    const folder = `/proc/${this.child.pid}/task`;
    const times = readdirSync(folder).map((thread) => readFileSync(`${folder}/${thread}/schedstat`, "utf8"));
    return times.reduce((sum, text) => sum + Number(text.split(" ")[0]), 0) / 1e6;
  }

  megabytes() {
    return peak(this.child.pid) / 1000;
  }

  async close() {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.stdin.end();
    await ended;
  }
}
