/** Messages to the user: one sentence, what to do next, and the log where it helps. */
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { didShow } from "../../core/shown";

type Show = (message: string, ...actions: string[]) => Thenable<string | undefined>;

export const info: Show = (message, ...actions) =>
  report(message, vscode.window.showInformationMessage(message, ...actions));

export const warn: Show = (message, ...actions) =>
  report(message, vscode.window.showWarningMessage(message, ...actions));

export const error: Show = (message, ...actions) =>
  report(message, vscode.window.showErrorMessage(message, ...actions));

/** Our only message in the status bar: the editor would show an earlier one again when a later one ends. */
let passing: vscode.Disposable | undefined;

/** Says in the status bar what was done, for a few seconds. */
export function showStatus(text: string): vscode.Disposable {
  return replace(vscode.window.setStatusBarMessage(text, 6000));
}

/** Says in the status bar what to do next, until the result is disposed of. */
export function keepStatus(text: string): vscode.Disposable {
  return replace(vscode.window.setStatusBarMessage(text));
}

function replace(message: vscode.Disposable): vscode.Disposable {
  passing?.dispose();
  passing = message;
  return message;
}

/** Asks before something that cannot be undone. */
export async function confirm(question: string, detail: string, action: string): Promise<boolean> {
  const answer = vscode.window.showWarningMessage(question, { modal: true, detail }, action);
  return (await report(question, answer)) === action;
}

/** Whether programs may be run in this workspace. If not, a message says so, what works `without`, and where to change it. */
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
 * Shows what went wrong, unless it was cancelled. The log is offered unless the user's input was wrong. Resolves to the chosen
 * action.
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

function report(message: string, answer: Thenable<string | undefined>): Thenable<string | undefined> {
  didShow({ kind: "message", text: message });
  return answer;
}
