/** What a person types to start a run, checked and turned into what the engine takes. */
import * as path from "node:path";
import type { Aim, EndToEnd } from "../engine/protocol";
import type { BuildTarget } from "../programs/targets";
import { splitShellWords } from "../text/shellWords";

export interface RunInput {
  /** As typed: absolute, relative to the workspace folder, or starting with `~/`. */
  program: string;
  /** One line, split like a shell does. */
  args: string;
  cwd: string;
  /** Seconds as typed; empty: until the program ends. */
  duration: string;
  /** Built first, each time. */
  build?: BuildTarget;
}

export interface RunRequest {
  program: string;
  args: string[];
  cwd: string;
  durationSeconds: number | null;
  /** Stop when the best targets are known this well: half width of their intervals, a fraction. */
  until: number | null;
  aim: Aim;
  /** Lines, `FILE:LINE`, that are progress points without a change of the source. */
  progress: string[];
  /** The share of the program's time that profiling may take. */
  maxOverhead: number | null;
  /** Run the program again and again, each time as one experiment. */
  endToEnd: EndToEnd | null;
  /** The folder of an earlier run of the same build, which this one continues. */
  continues?: string;
}

/** What the settings say about runs: everything that is not asked for each time. */
export type RunDefaults = Pick<RunRequest, "until" | "aim" | "progress" | "maxOverhead" | "endToEnd">;

/** Resolves a typed path against a folder, `~/` against the home folder. */
export function resolvePath(typed: string, base: string, home: string): string {
  const text = typed.trim();
  if (text === "~" || text.startsWith("~/")) {
    return path.join(home, text.slice(1));
  }
  return path.resolve(base, text.replace(/^\$\{workspaceFolder\}/, base));
}

/** `undefined` when the text is fine, else one sentence. */
export function argumentsProblem(text: string): string | undefined {
  try {
    splitShellWords(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function durationProblem(text: string): string | undefined {
  return parseDuration(text) === undefined
    ? "Type the duration in seconds, as in 60, or with a unit, as in 2m. Leave it empty to run until the program ends."
    : undefined;
}

/** Seconds; `null` for no limit; `undefined` when the text says neither. Takes `60`, `60s`, `2m`, `1h`. */
export function parseDuration(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === "") {
    return null;
  }
  const match = /^(\d+(?:\.\d+)?)\s*(s|m|h)?$/.exec(trimmed);
  if (match === null) {
    return undefined;
  }
  const seconds = Number(match[1]) * { s: 1, m: 60, h: 3600 }[(match[2] ?? "s") as "s" | "m" | "h"];
  return seconds > 0 ? seconds : undefined;
}

export function runRequest(input: RunInput, defaults: RunDefaults, base: string, home: string): RunRequest {
  return {
    ...defaults,
    program: resolvePath(input.program, base, home),
    args: splitShellWords(input.args),
    cwd: input.cwd.trim() === "" ? base : resolvePath(input.cwd, base, home),
    durationSeconds: parseDuration(input.duration) ?? null,
  };
}

/** What a look at the file system says about a program path. */
export interface ProgramFacts {
  exists: boolean;
  isFile: boolean;
  executable: boolean;
}

/** `undefined` when the program can be started, else one sentence with what to do next. */
export function programProblem(program: string, facts: ProgramFacts): string | undefined {
  if (!facts.exists) {
    return `There is no file at ${program}. Build the program first, or choose another path.`;
  }
  if (!facts.isFile) {
    return `${program} is a folder. Choose the program inside it.`;
  }
  if (!facts.executable) {
    return `${program} is not executable. Choose a built program, or run chmod +x on it.`;
  }
  return undefined;
}

/** An environment for the engine without the editor's own variables, which a profiled program must not see. */
export function cleanEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(FULCRUM_|VSCODE_|ELECTRON_)/.test(name)));
}
