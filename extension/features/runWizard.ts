/** Asks for program, arguments, working folder and duration, one step each, with a way back. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import {
  argumentsProblem,
  durationProblem,
  type ProgramFacts,
  programProblem,
  type RunInput,
  resolvePath,
} from "../core/runRequest";

type StepResult = { go: "next"; value: string } | { go: "back" } | { go: "away" };

interface Step {
  key: keyof RunInput;
  ask: (input: RunInput, at: Position) => Promise<StepResult>;
}

interface Position {
  step: number;
  total: number;
  /** Folder against which typed paths are resolved. */
  base: string;
}

const title = "Run Causal Profiler";

const steps: readonly Step[] = [
  { key: "program", ask: askProgram },
  {
    key: "args",
    ask: (input, at) =>
      askText(at, input.args, {
        prompt: `Arguments for ${path.basename(input.program)}, quoted as in a shell. Empty: none.`,
        placeholder: `--size 1000 'input file.txt'`,
        problem: async (text) => argumentsProblem(text),
      }),
  },
  {
    key: "cwd",
    ask: (input, at) =>
      askText(at, input.cwd || at.base, {
        prompt: "Working folder of the program.",
        placeholder: at.base,
        browse: true,
        problem: async (text) => folderProblem(resolvePath(text || at.base, at.base, homedir())),
      }),
  },
  {
    key: "duration",
    ask: (input, at) =>
      askText(at, input.duration, {
        prompt: "Stop the program after so many seconds (or 2m, 1h). Empty: let it run to its end.",
        placeholder: "until the program ends",
        problem: async (text) => durationProblem(text),
      }),
  },
];

/** `undefined` when the user went away. */
export async function askRunInput(first: RunInput, base: string): Promise<RunInput | undefined> {
  const input = { ...first };
  let index = 0;
  while (index < steps.length) {
    const step = steps[index] as Step;
    const result = await step.ask(input, { step: index + 1, total: steps.length, base });
    if (result.go === "away") {
      return undefined;
    }
    if (result.go === "back") {
      index = Math.max(0, index - 1);
      continue;
    }
    input[step.key] = result.value;
    index += 1;
  }
  return input;
}

interface ProgramItem extends vscode.QuickPickItem {
  program?: string;
  browse?: true;
}

async function askProgram(input: RunInput, at: Position): Promise<StepResult> {
  const pick = vscode.window.createQuickPick<ProgramItem>();
  pick.title = title;
  pick.step = at.step;
  pick.totalSteps = at.total;
  pick.placeholder = "The program to profile: choose one, or type a path";
  pick.matchOnDescription = true;
  pick.ignoreFocusOut = true;
  pick.busy = true;
  const browse: ProgramItem = { label: "$(folder-opened) Browse…", browse: true, alwaysShow: true };
  let last: ProgramItem[] = [];
  let found: ProgramItem[] = [];
  const problemOf = async (program: string) => {
    const file = resolvePath(program, at.base, homedir());
    return programProblem(file, await programFacts(file));
  };
  const list = async () => {
    const typed = pick.value.trim();
    const known = [...last, ...found.filter((item) => item.program !== last[0]?.program)];
    const exact: ProgramItem[] = [];
    if (typed !== "" && !known.some((item) => item.label === typed)) {
      const detail = (await problemOf(typed)) ?? resolvePath(typed, at.base, homedir());
      if (typed !== pick.value.trim()) {
        return;
      }
      exact.push({ label: typed, detail, program: typed, alwaysShow: true });
    }
    pick.items = [...exact, ...known, browse];
  };
  const listLast = async () => {
    if (input.program !== "") {
      // It may be away by now: that is said before it is chosen.
      const problem = await problemOf(input.program);
      const detail = problem === undefined ? {} : { detail: problem };
      last = [{ ...programItem(input.program, at.base), description: "last time", ...detail }];
    }
    await list();
  };
  void listLast();
  void executables(at.base).then((programs) => {
    found = programs.map((program) => programItem(program, at.base));
    pick.busy = false;
    void list();
  });
  try {
    return await new Promise<StepResult>((resolve) => {
      pick.onDidChangeValue(() => void list());
      const browseHere = browsing(pick, "Choose Program", at.base, true, () => resolve({ go: "away" }));
      pick.onDidAccept(async () => {
        const item = pick.selectedItems[0];
        if (item?.browse) {
          const file = await browseHere();
          if (file !== undefined) {
            resolve({ go: "next", value: file });
          } else {
            // The dialog may have emptied the list.
            await list();
          }
          return;
        }
        const program = item?.program ?? pick.value.trim();
        if (program === "") {
          return;
        }
        if ((await problemOf(program)) === undefined) {
          resolve({ go: "next", value: program });
        } else {
          await listLast();
        }
      });
      pick.show();
    });
  } finally {
    pick.dispose();
  }
}

interface TextOptions {
  prompt: string;
  placeholder: string;
  browse?: boolean;
  problem: (text: string) => Promise<string | undefined>;
}

async function askText(at: Position, value: string, options: TextOptions): Promise<StepResult> {
  const box = vscode.window.createInputBox();
  const browse: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("folder-opened"), tooltip: "Browse…" };
  box.title = title;
  box.step = at.step;
  box.totalSteps = at.total;
  box.value = value;
  box.prompt = options.prompt;
  box.placeholder = options.placeholder;
  box.ignoreFocusOut = true;
  box.buttons = [vscode.QuickInputButtons.Back, ...(options.browse ? [browse] : [])];
  try {
    return await new Promise<StepResult>((resolve) => {
      const browseHere = browsing(box, "Choose Working Folder", at.base, false, () => resolve({ go: "away" }));
      box.onDidTriggerButton(async (button) => {
        if (button === browse) {
          box.value = (await browseHere()) ?? box.value;
        } else {
          resolve({ go: "back" });
        }
      });
      box.onDidChangeValue(() => {
        box.validationMessage = undefined;
      });
      box.onDidAccept(async () => {
        box.validationMessage = await options.problem(box.value);
        if (box.validationMessage === undefined) {
          resolve({ go: "next", value: box.value });
        }
      });
      box.show();
    });
  } finally {
    box.dispose();
  }
}

/**
 * A file dialog over a step, which shows again afterwards: in a remote window the dialog is a quick input itself and hides
 * the step, which is not the user going away.
 */
function browsing(
  step: vscode.QuickInput,
  dialogTitle: string,
  base: string,
  files: boolean,
  away: () => void,
): () => Promise<string | undefined> {
  let open = false;
  step.onDidHide(() => {
    if (!open) {
      away();
    }
  });
  return async () => {
    open = true;
    try {
      return await browseFor(dialogTitle, base, files);
    } finally {
      open = false;
      step.show();
    }
  };
}

async function browseFor(dialogTitle: string, base: string, files: boolean): Promise<string | undefined> {
  const [uri] =
    (await vscode.window.showOpenDialog({
      title: dialogTitle,
      openLabel: "Choose",
      canSelectFiles: files,
      canSelectFolders: !files,
      defaultUri: vscode.Uri.file(base),
    })) ?? [];
  return uri?.fsPath;
}

function programItem(program: string, base: string): ProgramItem {
  const relative = path.relative(base, path.resolve(base, program));
  const label = relative.startsWith("..") || relative === "" ? program : relative;
  return { label, program };
}

/** Built programs of the workspace: files without a source's extension that may be executed. At most 50. */
async function executables(base: string): Promise<string[]> {
  const pattern = new vscode.RelativePattern(base, "**/{build,bin,out,target,cmake-build-*,builddir}/**");
  const exclude = "**/{node_modules,.git,CMakeFiles,deps,incremental,.fulcrum,.vscode-test}/**";
  const files = await vscode.workspace.findFiles(pattern, exclude, 2000);
  const plain = files.map((file) => file.fsPath).filter((file) => /^[^.]+$|\.(out|exe|bin)$/.test(path.basename(file)));
  const checked = await Promise.all(
    plain.slice(0, 300).map(async (file) => ((await programFacts(file)).executable ? file : undefined)),
  );
  return checked.filter((file) => file !== undefined).slice(0, 50);
}

async function programFacts(program: string): Promise<ProgramFacts> {
  try {
    const isFile = (await stat(program)).isFile();
    const executable = isFile && (await mayExecute(program));
    return { exists: true, isFile, executable };
  } catch {
    return { exists: false, isFile: false, executable: false };
  }
}

async function mayExecute(program: string): Promise<boolean> {
  try {
    await access(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function folderProblem(folder: string): Promise<string | undefined> {
  try {
    return (await stat(folder)).isDirectory() ? undefined : `${folder} is not a folder.`;
  } catch {
    return `There is no folder at ${folder}.`;
  }
}
