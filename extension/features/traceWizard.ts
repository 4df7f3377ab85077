/** Asks what to record: the command line, then the filter. */
import * as path from "node:path";
import * as vscode from "vscode";
import { argumentsProblem } from "../core/runRequest";
import { splitShellWords } from "../core/shellWords";
import { baseFolder } from "./folders";

export interface TraceRequest {
  program: string;
  args: string[];
  cwd: string;
  /** The filter's text; absent: everything that is not the platform's. */
  filter?: string;
}

interface Remembered {
  command?: string;
  filter?: string;
}

interface FilterItem extends vscode.QuickPickItem {
  file?: vscode.Uri;
}

const lastTraceKey = "fulcrum.lastTrace";
const title = "Record a Trace";

/** `undefined` when the user went away. */
export async function askTrace(memory: vscode.Memento): Promise<TraceRequest | undefined> {
  const last = memory.get<Remembered>(lastTraceKey) ?? {};
  const cwd = baseFolder();
  const command = await vscode.window.showInputBox({
    title: `${title} (1/2)`,
    value: last.command ?? "java -cp . Main",
    prompt: `The command line of a Java program, or a native one built with -finstrument-functions. It runs in ${cwd}.`,
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.trim() === "" ? "Type a command, as in: java -cp build Main" : argumentsProblem(text),
  });
  const [program, ...args] = command === undefined ? [] : splitShellWords(command);
  if (command === undefined || program === undefined) {
    return undefined;
  }
  const chosen = await askFilter(last.filter);
  if (chosen === undefined) {
    return undefined;
  }
  const filter = chosen.file === undefined ? {} : { filter: chosen.file.fsPath };
  await memory.update(lastTraceKey, { command, ...filter } satisfies Remembered);
  const request: TraceRequest = { program, args, cwd };
  if (chosen.file !== undefined) {
    request.filter = Buffer.from(await vscode.workspace.fs.readFile(chosen.file)).toString("utf8");
  }
  return request;
}

async function askFilter(last: string | undefined): Promise<FilterItem | undefined> {
  const files = await vscode.workspace.findFiles("**/*.fulcrum-filter", "**/{node_modules,.git,.fulcrum}/**", 100);
  const filters: FilterItem[] = files.map((file) => ({
    label: `$(filter) ${path.basename(file.fsPath)}`,
    description: file.fsPath === last ? "last time" : path.dirname(vscode.workspace.asRelativePath(file)),
    file,
  }));
  // What was chosen last stands first.
  filters.sort((a, b) => Number(b.file?.fsPath === last) - Number(a.file?.fsPath === last));
  const everything: FilterItem = {
    label: "$(symbol-method) All methods of the program",
    description: "not those of the Java platform or C++'s std",
  };
  const items = last === undefined ? [everything, ...filters] : [...filters, everything];
  return vscode.window.showQuickPick(items, {
    title: `${title} (2/2)`,
    placeHolder: "What to observe: a filter of the workspace, or everything",
    ignoreFocusOut: true,
  });
}
