/** Runs of `fulcrum trace` as the disk has them. */
import { readdir, readFile } from "node:fs/promises";
import * as path from "node:path";
import { joinShellWords } from "../text/shellWords";

/** What was run, to run it again. */
export interface TracedProgram {
  program: string;
  args: string[];
  cwd: string;
}

const logName = /^events-.*\.log$/;

/** Arguments longer than this, such as class paths, are cut where a command is shown. */
const longest = 80;

/** The command as one line for people. */
export function shownCommand({ program, args }: TracedProgram): string {
  const shown = args.map((arg) => (arg.length > longest ? `${arg.slice(0, longest / 2)}…` : arg));
  return joinShellWords([program, ...shown]);
}

export function isEventLog(file: string): boolean {
  return logName.test(path.basename(file));
}

/** Whether a run's folder holds event logs. */
export async function isTraceRun(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).some((name) => logName.test(name));
  } catch {
    return false;
  }
}

/** The folder of a run from its folder, its manifest or its log. */
export function traceFolderOf(file: string): string {
  return isEventLog(file) || path.basename(file) === "run.json" ? path.dirname(file) : file;
}

/** What a run's folder is called after: `dispatcher.Main` of `20261122T115608Z-dispatcher.Main-refine-1`. */
export function runName(folder: string): string {
  const name = path.basename(folder);
  const [, own] = /^\d{8}T\d{6}Z-(.+)$/.exec(name) ?? [];
  return own === undefined ? name : loopName(own).replace(/-\d+$/, "");
}

/** What the iterations of a refine loop are called after: `dispatcher.Main` of `dispatcher.Main-refine-1`. */
export function loopName(name: string): string {
  return name.replace(/-refine-\d+(-\d+)?$/, "");
}

/** Whether the user stopped the program of a run: it may never end by itself, as a server. */
export async function wasStopped(file: string): Promise<boolean> {
  try {
    const text = await readFile(path.join(traceFolderOf(file), "run.json"), "utf8");
    return (JSON.parse(text) as Record<string, unknown>).ended === "stopped";
  } catch {
    return false;
  }
}

/** The program of a run; undefined when its manifest does not say. */
export async function programOf(file: string): Promise<TracedProgram | undefined> {
  try {
    const text = await readFile(path.join(traceFolderOf(file), "run.json"), "utf8");
    const { command, arguments: args, cwd } = JSON.parse(text) as Record<string, unknown>;
    const isText = (it: unknown): it is string => typeof it === "string";
    if (isText(command) && isText(cwd) && Array.isArray(args) && args.every(isText)) {
      return { program: command, args, cwd };
    }
  } catch {
    // Damaged or missing: then the program cannot be run again.
  }
  return undefined;
}
