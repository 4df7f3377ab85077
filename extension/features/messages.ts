/** How trouble reaches the user: one sentence, what to do next, and the log where it helps. */
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../core/errors";

/** Shows an error. Input that is wrong needs no log; anything else offers it. Resolves to the chosen extra action. */
export async function showTrouble(
  log: vscode.LogOutputChannel,
  doing: string,
  error: unknown,
  ...actions: string[]
): Promise<string | undefined> {
  const trouble = troubleOf(error);
  log.error(`${doing}: ${error instanceof Error ? (error.stack ?? error.message) : troubleText(trouble)}`);
  const showLog = "Show Log";
  const buttons = trouble.blame === "user" ? actions : [...actions, showLog];
  const show = trouble.blame === "user" ? vscode.window.showWarningMessage : vscode.window.showErrorMessage;
  const choice = await show(troubleText(trouble), ...buttons);
  if (choice === showLog) {
    log.show();
  }
  return choice;
}
