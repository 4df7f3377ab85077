/** How the extension speaks to the user: one sentence, what to do next, and the log where it helps. */
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { didShow } from "../../core/shown";

type Show = (message: string, ...actions: string[]) => Thenable<string | undefined>;

/** The last messages, oldest first: tests read them, and nothing else does. */
export const recentMessages: string[] = [];

export const info: Show = (message, ...actions) =>
  remember(message, vscode.window.showInformationMessage(message, ...actions));

export const warn: Show = (message, ...actions) =>
  remember(message, vscode.window.showWarningMessage(message, ...actions));

export const error: Show = (message, ...actions) =>
  remember(message, vscode.window.showErrorMessage(message, ...actions));

/** The one message of ours in the status bar: the editor would show an earlier one again when a later one ends. */
let passing: vscode.Disposable | undefined;

/** Says in the status bar what was done. It goes by itself. */
export function tell(text: string): vscode.Disposable {
  return pass(vscode.window.setStatusBarMessage(text, 6000));
}

/** Says in the status bar what to do next, until that is done and what this gives is disposed of. */
export function hold(text: string): vscode.Disposable {
  return pass(vscode.window.setStatusBarMessage(text));
}

function pass(message: vscode.Disposable): vscode.Disposable {
  passing?.dispose();
  passing = message;
  return message;
}

/** Asks before something that cannot be undone. */
export async function confirm(question: string, detail: string, action: string): Promise<boolean> {
  const answer = vscode.window.showWarningMessage(question, { modal: true, detail }, action);
  return (await remember(question, answer)) === action;
}

/** Whether programs may be run in this workspace. If not, it says so, what can be done without, and where that is changed. */
export async function mayRun(without: string): Promise<boolean> {
  if (vscode.workspace.isTrusted) {
    return true;
  }
  const manage = "Manage Workspace Trust";
  if ((await warn(`Running a program needs a trusted workspace. ${without}`, manage)) === manage) {
    await vscode.commands.executeCommand("workbench.trust.manage");
  }
  return false;
}

/**
 * Shows what went wrong, except that it was cancelled. Input that is wrong needs no log; anything else offers it. Resolves
 * to the chosen action.
 */
export async function showTrouble(
  log: vscode.LogOutputChannel,
  doing: string,
  thrown: unknown,
  ...actions: string[]
): Promise<string | undefined> {
  const trouble = troubleOf(thrown);
  if (trouble.cancelled) {
    log.debug(`${doing}: ${troubleText(trouble)}`);
    return undefined;
  }
  log.error(`${doing}: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : troubleText(trouble)}`);
  const showLog = "Show Log";
  const byUser = trouble.blame === "user";
  const show = byUser ? warn : error;
  const choice = await show(troubleText(trouble), ...actions, ...(byUser ? [] : [showLog]));
  if (choice === showLog) {
    log.show();
  }
  return choice;
}

function remember(message: string, answer: Thenable<string | undefined>): Thenable<string | undefined> {
  recentMessages.push(message);
  recentMessages.splice(0, recentMessages.length - 50);
  didShow();
  return answer;
}
