/**
 * Whether keys go to the Navigator's page, and giving it the focus back after an input. The editor returns the focus to the
 * element that had it, but it knows none inside a webview, and hands it to the text editor.
 */
import * as vscode from "vscode";

let focused = false;
/** Told when Escape ends the input that is open. */
let escaped = false;

/** The page has gained or lost the focus. The keybindings of the Navigator hold while it has it. */
export function setFocused(now: boolean): Thenable<void> {
  focused = now;
  return setContext("fulcrum.navigatorFocus", now);
}

/**
 * Asks the user, and gives the focus back to the Navigator if it came from there. Who clicks elsewhere instead of answering
 * keeps the focus there, and so does an answer that `leaves`: one that opens something else.
 */
export async function ask<T>(
  question: () => Thenable<T | undefined>,
  leaves: (answer: T) => boolean = () => false,
): Promise<T | undefined> {
  if (!focused) {
    return question();
  }
  escaped = false;
  void setContext("fulcrum.navigatorAsks", true);
  let answer: T | undefined;
  try {
    answer = await question();
  } finally {
    void setContext("fulcrum.navigatorAsks", false);
  }
  if (answer === undefined ? escaped : !leaves(answer)) {
    await vscode.commands.executeCommand("fulcrum.navigator.focus");
  }
  return answer;
}

/** Escape in an input that {@link ask} opened: the editor does not report how an input ended without an answer. */
export function registerEscape(): vscode.Disposable {
  return vscode.commands.registerCommand("fulcrum.navigator.escape", () => {
    escaped = true;
    return vscode.commands.executeCommand("workbench.action.closeQuickOpen");
  });
}

function setContext(key: string, value: boolean): Thenable<void> {
  return vscode.commands.executeCommand("setContext", key, value);
}
