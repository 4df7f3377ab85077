/** Builds a program before it is profiled: in the editor's terminal, as a task, so that its errors can be clicked. */
import { execFile } from "node:child_process";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import {
  type BuildCommands,
  type BuildTarget,
  cargoCommands,
  cmakeCommands,
  makeCommands,
} from "../../core/programs/targets";
import * as messages from "../editor/messages";
import { cmakeBuilds, findBuilt, programFacts, textOf } from "./programs";

const runAgain: Again = { label: "Build and Run Again", command: "fulcrum.causal.runAgain" };
const problemMatchers = { cmake: ["$gcc"], make: ["$gcc"], cargo: ["$rustc"], task: [] };

/** The absolute path of the program that was built; `undefined` after a failure, which a message has reported. */
export async function build(target: BuildTarget): Promise<string | undefined> {
  return target.kind === "task" ? buildByTask(target) : buildByCommands(target, await commandsOf(target));
}

async function commandsOf(target: BuildTarget): Promise<BuildCommands> {
  switch (target.kind) {
    case "cmake":
      return cmakeCommands(target, await cmakeBuilds(target.folder));
    case "cargo":
      return cargoCommands(target, await cargoTargetFolder(target.folder));
    default:
      return makeCommands(target, await makefileIn(target.folder));
  }
}

async function buildByCommands(target: BuildTarget, how: BuildCommands): Promise<string | undefined> {
  const { name, folder, kind } = target;
  if (
    !(await buildInTerminal({ name, folder, commands: how.commands, matchers: problemMatchers[kind], again: runAgain }))
  ) {
    return undefined;
  }
  const known = how.program !== undefined && (await programFacts(how.program)).exists ? how.program : undefined;
  const program = known ?? (await findBuilt(how.folder, target.name));
  if (program === undefined) {
    await messages.warn(
      `${target.name} was built, but there is no program of that name in ${how.folder}. Choose the program itself.`,
    );
  }
  return program;
}

/** Commands that build something, in the editor's terminal. */
interface TerminalBuild {
  name: string;
  /** Run one after the other. */
  commands: readonly string[];
  /** Absolute: where they run. */
  folder: string;
  /** What finds errors in their output. */
  matchers: string[];
  again: Again;
}

/** The button that is offered when a build failed, and its command. */
export interface Again {
  label: string;
  command: string;
}

/** False after a failure, which a message has reported. */
export async function buildInTerminal({ name, commands, folder, matchers, again }: TerminalBuild): Promise<boolean> {
  const task = new vscode.Task(
    { type: "fulcrum", target: name },
    vscode.TaskScope.Workspace,
    `Build ${name}`,
    "Fulcrum",
    new vscode.ShellExecution(commands.join(" && "), { cwd: folder }),
    matchers,
  );
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, focus: false, clear: true };
  return succeeds(task, name, again);
}

async function buildByTask(target: BuildTarget): Promise<string | undefined> {
  const tasks = await vscode.tasks.fetchTasks();
  const wanted = tasks.find(({ name }) => name === target.name || `${target.name}`.endsWith(`: ${name}`));
  if (wanted === undefined) {
    await messages.warn(`There is no task ${target.name} in this workspace to build the program. Check tasks.json.`);
    return undefined;
  }
  return (await succeeds(wanted, target.name, runAgain)) ? target.program : undefined;
}

/** Runs a task to its end. A message reports a failure; its errors are in the terminal. */
async function succeeds(task: vscode.Task, name: string, again: Again): Promise<boolean> {
  const options = { location: vscode.ProgressLocation.Notification, title: `Building ${name}`, cancellable: true };
  const ended = await vscode.window.withProgress(options, (_, token) => runTask(task, token));
  if (ended === "failed") {
    void offerAgain(name, again);
  }
  return ended === "done";
}

async function offerAgain(name: string, { label, command }: Again): Promise<void> {
  const text = `${name} could not be built, so it was not run. See the terminal for the reason.`;
  if ((await messages.warn(text, label)) === label) {
    await vscode.commands.executeCommand(command);
  }
}

async function runTask(task: vscode.Task, token: vscode.CancellationToken): Promise<"done" | "failed" | "cancelled"> {
  const isOurs = ({ execution }: { execution: vscode.TaskExecution }) =>
    execution.task.name === task.name && execution.task.source === task.source;
  const listening: vscode.Disposable[] = [];
  try {
    const code = new Promise<number | undefined>((resolve) => {
      listening.push(
        vscode.tasks.onDidEndTaskProcess((end) => isOurs(end) && resolve(end.exitCode)),
        // A task that was stopped, or never had a process.
        vscode.tasks.onDidEndTask((end) => isOurs(end) && resolve(undefined)),
      );
    });
    const execution = await vscode.tasks.executeTask(task);
    listening.push(token.onCancellationRequested(() => execution.terminate()));
    const ended = await code;
    return token.isCancellationRequested ? "cancelled" : ended === 0 ? "done" : "failed";
  } finally {
    for (const it of listening) {
      it.dispose();
    }
  }
}

/** Where cargo puts what it builds. Cargo knows; without it the folder beside the outermost manifest is as good a guess. */
async function cargoTargetFolder(folder: string): Promise<string> {
  try {
    const args = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    const { stdout } = await promisify(execFile)("cargo", args, { cwd: folder, maxBuffer: 64 << 20 });
    const { target_directory: target } = JSON.parse(stdout) as { target_directory?: unknown };
    return typeof target === "string" ? target : path.join(folder, "target");
  } catch {
    return path.join(folder, "target");
  }
}

async function makefileIn(folder: string): Promise<string> {
  for (const name of ["GNUmakefile", "makefile", "Makefile"]) {
    const text = await textOf(path.join(folder, name));
    if (text !== "") {
      return text;
    }
  }
  return "";
}
