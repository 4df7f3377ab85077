/** Fulcrum's command line, as users have it. */
import { StepError } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";

/** Seconds for one file: the largest has some megabytes. */
const limit = 60;

export class Engine {
  /** @param {string} program */
  constructor(program) {
    this.program = program;
  }

  /**
   * What a file holds, or why it is refused. Anything else than an answer or a refusal is a failure of ours.
   * @param {string} file
   * @returns {Promise<{ info?: any, refused?: string }>}
   */
  async info(file) {
    const { code, signal, stdout, stderr, late } = await runChild([this.program, "profile", "info", "--json", file], {
      limit,
    });
    if (code === 0) {
      return { info: JSON.parse(stdout) };
    }
    if (code === 3) {
      return { refused: reason(stderr, file) };
    }
    const how = late ? `took more than ${limit} s` : `ended with ${signal ?? `exit code ${code}`}`;
    throw new StepError(`${stderr.trim()}\nReading ${file} ${how}.`);
  }

  /** Every function with the file's own names. */
  async top(file, value) {
    const options = ["--json", "--names", "none", "--value", String(value)];
    return JSON.parse(await this.output(["profile", "top", ...options, file]));
  }

  /** Folded stacks with the file's own names. */
  async folded(file, value) {
    return this.output(["profile", "convert", "--to", "folded", "--names", "none", "--value", String(value), file]);
  }

  async output(args) {
    const { code, stdout, stderr } = await runChild([this.program, ...args], { limit });
    if (code !== 0) {
      throw new StepError(`${stderr.trim()}\n\`fulcrum ${args.join(" ")}\` failed.`);
    }
    return stdout;
  }
}

/**
 * The sentence of a refusal without what is the same in all of them: who says it, of which file, and the list of formats.
 * @param {string} stderr
 * @param {string} file
 */
export function reason(stderr, file) {
  const text = stderr.trim().replaceAll("\n", " ");
  const from = text.startsWith(`fulcrum: ${file}`) ? text.slice(`fulcrum: ${file}`.length) : text;
  return from
    .replace(/^[:,] */, "")
    .replace(/; open pprof, folded stacks.*$/, "")
    .replace(/; record the profile again, or export it again.*$/, "")
    .replace(/\.$/, "");
}
