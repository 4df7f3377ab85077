/**
 * Programs that the editor already knows how to start: `launch.json` and `tasks.json`.
 *
 * Without comments and trailing commas, these files are JSON. `jsonc-parser` 3.3 (no dependencies) also recovers from errors and
 * edits files, but a broken file is simply left out here.
 */
import * as path from "node:path";
import { ShellWordsError, splitShellWords } from "../text/shellWords";
import type { Candidate } from "./targets";

/** JSON with comments and commas too many, as the editor's own files have them. `undefined` when it is something else. */
export function parseJsonc(text: string): unknown {
  const plain = text
    .replace(/^\uFEFF/, "")
    .replace(/("(?:[^"\\\n]|\\.)*")|\/\/.*$|\/\*[\s\S]*?\*\//gm, (_, quoted?: string) => quoted ?? "")
    .replace(/("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])/g, (_, quoted?: string) => quoted ?? "");
  try {
    return JSON.parse(plain);
  } catch {
    return undefined;
  }
}

const debuggers = /^(cppdbg|lldb|lldb-dap|lldb-vscode|gdb|gdbtarget|codelldb|probe-rs-debug|cortex-debug|rr)$/;

/** The native programs of a `launch.json`. */
export function launchCandidates(text: string, workspace: string): Candidate[] {
  return listOf(parseJsonc(text), "configurations").flatMap((entry): Candidate[] => {
    const program = inWorkspace(entry.program, workspace);
    if (entry.request !== "launch" || !debuggers.test(textOf(entry.type) ?? "") || program === undefined) {
      return [];
    }
    const args = textsOf(entry.args, workspace);
    const cwd = inWorkspace(entry.cwd, workspace);
    const task = textOf(entry.preLaunchTask);
    if (args === undefined) {
      return [];
    }
    return [
      {
        label: textOf(entry.name) ?? path.basename(program),
        program,
        from: "launch.json",
        args,
        ...(cwd !== undefined && { cwd }),
        ...(task !== undefined && { build: { kind: "task", folder: workspace, name: task, program } }),
      },
    ];
  });
}

/** The tasks that start a program of the workspace. */
export function taskCandidates(text: string, workspace: string): Candidate[] {
  return listOf(parseJsonc(text), "tasks").flatMap((entry): Candidate[] => {
    if (entry.type !== "shell" && entry.type !== "process") {
      return [];
    }
    const options = recordOf(entry.options);
    const cwd = inWorkspace(options.cwd, workspace) ?? workspace;
    const command = commandOf(entry, workspace);
    const first = command?.[0];
    // What is found in PATH is a tool, not the program that is meant.
    if (command === undefined || first === undefined || !first.includes("/")) {
      return [];
    }
    const program = path.resolve(cwd, first);
    if (path.relative(workspace, program).startsWith("..")) {
      return [];
    }
    const before = [entry.dependsOn].flat().flatMap((it) => textOf(it) ?? []);
    return [
      {
        label: textOf(entry.label) ?? textOf(entry.taskName) ?? path.basename(program),
        program,
        from: "tasks.json",
        args: command.slice(1),
        cwd,
        ...(before[0] !== undefined && { build: { kind: "task", folder: workspace, name: before[0], program } }),
      },
    ];
  });
}

function commandOf(entry: Record<string, unknown>, workspace: string): string[] | undefined {
  const command = textOf(entry.command);
  const args = textsOf(entry.args, workspace);
  const known = command === undefined ? undefined : substituted(command, workspace);
  if (known === undefined || args === undefined) {
    return undefined;
  }
  try {
    const isShell = entry.type === "shell" && args.length === 0;
    // Whoever writes a pipe means the shell.
    return isShell && /[|&;<>`$]/.test(known) ? undefined : isShell ? splitShellWords(known) : [known, ...args];
  } catch (error) {
    if (error instanceof ShellWordsError) {
      return undefined;
    }
    throw error;
  }
}

/** An absolute path; `undefined` when there is none, or it has variables that only a debugger knows. */
function inWorkspace(value: unknown, workspace: string): string | undefined {
  const text = textOf(value);
  const known = text === undefined ? undefined : substituted(text, workspace);
  return known === undefined ? undefined : path.resolve(workspace, known);
}

function substituted(text: string, workspace: string): string | undefined {
  const known = text
    .replaceAll(/\$\{workspace(Folder|Root)\}/g, workspace)
    .replaceAll(`\${workspaceFolderBasename}`, path.basename(workspace))
    .replaceAll(`\${pathSeparator}`, "/")
    .replaceAll(`\${/}`, "/");
  return known.includes("${") ? undefined : known;
}

/** `undefined` when one of them cannot be known. Arguments may be objects with a way of quoting. */
function textsOf(value: unknown, workspace: string): string[] | undefined {
  const texts = (Array.isArray(value) ? value : []).map((it) => textOf(it) ?? textOf(recordOf(it).value));
  const known = texts.map((text) => (text === undefined ? undefined : substituted(text, workspace)));
  return known.every((text) => text !== undefined) ? known : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown, key: string): Record<string, unknown>[] {
  const list = recordOf(value)[key];
  return Array.isArray(list) ? list.map(recordOf) : [];
}
