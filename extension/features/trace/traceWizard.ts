/** Asks what to record: a Java program of the workspace, which is built first, or a command line; then the filter. */
import * as path from "node:path";
import * as vscode from "vscode";
import { argumentsProblem } from "../../core/causal/runRequest";
import { type JavaTarget, javaName } from "../../core/programs/java";
import { splitShellWords } from "../../core/text/shellWords";
import { baseFolder } from "../editor/folders";
import { findPrograms } from "../run/programs";

export interface TraceRequest {
  program: string;
  args: string[];
  cwd: string;
  /** The filter's text; absent: everything that is not the platform's. */
  filter?: string;
}

/** What was answered: `build` is built first, and its class path comes before the arguments. */
export interface AskedTrace extends TraceRequest {
  build?: JavaTarget;
}

interface Remembered {
  command?: string;
  target?: JavaTarget;
  /** Of the target. */
  args?: string;
  filter?: string;
}

interface ProgramItem extends vscode.QuickPickItem {
  command?: string;
  target?: JavaTarget;
}

interface FilterItem extends vscode.QuickPickItem {
  file?: vscode.Uri;
}

const lastTraceKey = "fulcrum.lastTrace";
const title = "Record a Trace";
const edit: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("edit"), tooltip: "Edit This Command" };

/**
 * `undefined` when the user went away.
 * @param given a program that was chosen elsewhere
 */
export async function askTrace(memory: vscode.Memento, given?: JavaTarget): Promise<AskedTrace | undefined> {
  const last = memory.get<Remembered>(lastTraceKey) ?? {};
  const cwd = baseFolder();
  const chosen = given === undefined ? await askProgram(last, cwd) : { target: given };
  const asked = chosen === undefined ? undefined : await requestOf(chosen, last, cwd);
  const filter = asked === undefined ? undefined : await askFilter(last.filter);
  if (asked === undefined || filter === undefined) {
    return undefined;
  }
  const { request, remembered } = asked;
  const file = filter.file === undefined ? {} : { filter: filter.file.fsPath };
  await memory.update(lastTraceKey, { ...remembered, ...file } satisfies Remembered);
  if (filter.file !== undefined) {
    request.filter = Buffer.from(await vscode.workspace.fs.readFile(filter.file)).toString("utf8");
  }
  return request;
}

function isSame(a: JavaTarget, b: JavaTarget | undefined): boolean {
  return a.mainClass === b?.mainClass && a.folder === b.folder;
}

/** What the first answer means; of a program that is built, its arguments are asked for. */
async function requestOf(
  { command, target }: Pick<ProgramItem, "command" | "target">,
  last: Remembered,
  cwd: string,
): Promise<{ request: AskedTrace; remembered: Remembered } | undefined> {
  if (target === undefined) {
    const [program, ...args] = splitShellWords(command ?? "");
    return program === undefined
      ? undefined
      : { request: { program, args, cwd }, remembered: { command: command ?? "" } };
  }
  const args = await vscode.window.showInputBox({
    title: `${title}: Arguments`,
    value: isSame(target, last.target) ? (last.args ?? "") : "",
    prompt: `Arguments for ${javaName(target)}, quoted as in a shell. Empty: none.`,
    ignoreFocusOut: true,
    validateInput: argumentsProblem,
  });
  return args === undefined
    ? undefined
    : {
        request: { program: "java", args: splitShellWords(args), cwd: target.folder, build: target },
        remembered: { target, args },
      };
}

/** `undefined` when the user went away. */
async function askProgram(last: Remembered, base: string): Promise<ProgramItem | undefined> {
  const pick = vscode.window.createQuickPick<ProgramItem>();
  pick.title = `${title} (1/2)`;
  pick.placeholder = "Choose a Java program, or type its command line";
  pick.matchOnDescription = true;
  pick.ignoreFocusOut = true;
  pick.busy = true;
  let found: ProgramItem[] = [];
  const show = () => {
    const typed = pick.value.trim();
    const known = [...lastItem(last, base), ...found];
    pick.items = typed === "" || known.some(({ label }) => label === typed) ? known : [...known, ...typedItem(typed)];
  };
  void findPrograms(base).then(({ java }) => {
    found = javaItems(
      java.filter((target) => !isSame(target, last.target)),
      base,
    );
    pick.busy = false;
    // Somebody who sees an empty list needs an example.
    if (found.length === 0 && last.command === undefined && last.target === undefined && pick.value === "") {
      pick.value = "java -cp . Main";
    }
    show();
  });
  try {
    return await new Promise<ProgramItem | undefined>((resolve) => {
      pick.onDidChangeValue(show);
      pick.onDidHide(() => resolve(undefined));
      pick.onDidTriggerItemButton(({ item }) => {
        pick.value = item.command ?? "";
        show();
      });
      pick.onDidAccept(() => {
        const typed = pick.value.trim();
        const item = pick.selectedItems[0];
        const command = item?.command ?? typed;
        if (item?.target !== undefined || (command !== "" && argumentsProblem(command) === undefined)) {
          resolve(item?.target === undefined ? { label: command, command } : item);
        }
      });
      show();
      pick.show();
    });
  } finally {
    pick.dispose();
  }
}

function typedItem(command: string): ProgramItem[] {
  const detail = argumentsProblem(command);
  return [
    { label: command, description: "command line", command, alwaysShow: true, ...(detail !== undefined && { detail }) },
  ];
}

function lastItem({ command, target }: Remembered, base: string): ProgramItem[] {
  if (target !== undefined) {
    return [{ ...javaItem(target, base), description: "last time · built first" }];
  }
  return command === undefined ? [] : [{ label: command, description: "last time", command, buttons: [edit] }];
}

function javaItems(targets: readonly JavaTarget[], base: string): ProgramItem[] {
  const heading: ProgramItem = { label: "build first, then record", kind: vscode.QuickPickItemKind.Separator };
  return targets.length === 0 ? [] : [heading, ...targets.map((target) => javaItem(target, base))];
}

/** The row of a Java program, in any list of programs. */
export function javaItem(target: JavaTarget, base: string): { label: string; description: string; target: JavaTarget } {
  const folder = path.relative(base, target.folder);
  const tool = { maven: "Maven", gradle: "Gradle" }[target.kind];
  const description = `${tool}${folder === "" ? "" : ` in ${folder}`} · ${target.mainClass}`;
  return { label: `$(tools) ${javaName(target)}`, description, target };
}

async function askFilter(last: string | undefined): Promise<FilterItem | undefined> {
  const files = await vscode.workspace.findFiles("**/*.fulcrum-filter", "**/{node_modules,.git,.fulcrum}/**", 100);
  const filters: FilterItem[] = files.map((file) => ({
    label: `$(filter) ${path.basename(file.fsPath)}`,
    description: file.fsPath === last ? "last time" : path.dirname(vscode.workspace.asRelativePath(file)),
    file,
  }));
  // The last choice comes first.
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
