/** Asks for program, arguments, working folder and duration, one step each, with a way back. */
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { argumentsProblem, durationProblem, type RunInput, resolvePath } from "../../core/causal/runRequest";
import { type ProgramItem, ProgramRows } from "./programRows";

/** `also`: what one answer implies for the other questions. */
type StepResult = { go: "next"; value: string; also?: Partial<RunInput> } | { go: "back" } | { go: "away" };

interface Step {
  key: "program" | "args" | "cwd" | "duration";
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
        prompt:
          "Stop the program after this many seconds (or 2m, 1h). A minute is a good start. Empty: let it run to its end.",
        placeholder: "until the program ends",
        problem: async (text) => durationProblem(text),
      }),
  },
];

/** `undefined` when the user dismissed the question. */
export async function askRunInput(first: RunInput, base: string): Promise<RunInput | undefined> {
  let input = { ...first };
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
    input = { ...input, ...result.also, [step.key]: result.value };
    index += 1;
  }
  return input;
}

async function askProgram(input: RunInput, at: Position): Promise<StepResult> {
  const pick = vscode.window.createQuickPick<ProgramItem>();
  pick.title = title;
  pick.step = at.step;
  pick.totalSteps = at.total;
  pick.placeholder = "The program to profile: choose one, or type a path";
  pick.matchOnDescription = true;
  pick.ignoreFocusOut = true;
  const rows = new ProgramRows(pick, input, at.base);
  try {
    return await new Promise<StepResult>((resolve) => {
      const browseHere = browsing(pick, { title: "Choose Program", kind: "file", base: at.base }, () =>
        resolve({ go: "away" }),
      );
      pick.onDidAccept(async () => {
        const item = pick.selectedItems[0];
        if (item?.browse) {
          const file = await browseHere();
          if (file !== undefined) {
            resolve(chosen(file, input));
          } else {
            // The dialog may have emptied the list.
            await rows.show();
          }
          return;
        }
        if (item?.target !== undefined) {
          resolve({ go: "away" });
          await vscode.commands.executeCommand("fulcrum.trace.record", { target: item.target });
          return;
        }
        const program = item?.program ?? pick.value.trim();
        if (program === "") {
          return;
        }
        // What is built first need not be there yet.
        if (item?.also?.build !== undefined || (await rows.problemOf(program)) === undefined) {
          resolve(chosen(program, input, item?.also));
        } else {
          await rows.showLast();
        }
      });
      pick.show();
    });
  } finally {
    pick.dispose();
  }
}

/** Arguments and folder of another program are not those of this one. */
function chosen(program: string, input: RunInput, also?: Partial<RunInput>): StepResult {
  const { build: _, ...rest } = input;
  const others = program === input.program ? { args: rest.args, cwd: rest.cwd } : { args: "", cwd: "" };
  return { go: "next", value: program, also: { ...others, build: undefined, ...also } as Partial<RunInput> };
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
      const browseHere = browsing(box, { title: "Choose Working Folder", kind: "folder", base: at.base }, () =>
        resolve({ go: "away" }),
      );
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

interface FileDialog {
  title: string;
  kind: "file" | "folder";
  /** Where it starts. */
  base: string;
}

/**
 * A file dialog over a step, which shows again afterwards: in a remote window the dialog is a quick input itself and hides
 * the step, which is not the user going away.
 */
function browsing(step: vscode.QuickInput, dialog: FileDialog, away: () => void): () => Promise<string | undefined> {
  let open = false;
  step.onDidHide(() => {
    if (!open) {
      away();
    }
  });
  return async () => {
    open = true;
    try {
      return await browseFor(dialog);
    } finally {
      open = false;
      step.show();
    }
  };
}

async function browseFor({ title, kind, base }: FileDialog): Promise<string | undefined> {
  const [uri] =
    (await vscode.window.showOpenDialog({
      title,
      openLabel: "Choose",
      canSelectFiles: kind === "file",
      canSelectFolders: kind === "folder",
      defaultUri: vscode.Uri.file(base),
    })) ?? [];
  return uri?.fsPath;
}

async function folderProblem(folder: string): Promise<string | undefined> {
  try {
    return (await stat(folder)).isDirectory() ? undefined : `${folder} is not a folder.`;
  } catch {
    return `There is no folder at ${folder}.`;
  }
}
