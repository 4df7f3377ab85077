/** What a command is about: a file of the explorer, a path, or a row of the Runs view. */
import * as vscode from "vscode";

export type Target = vscode.Uri | string | { file: string };

/** As the editor's own commands take it: `preserveFocus` leaves the keyboard focus where it is. */
export interface FocusOptions {
  preserveFocus?: boolean;
}

/** Its path; undefined when the command was called without one. */
export function fileOf(target: Target | undefined): string | undefined {
  if (target === undefined || typeof target === "string") {
    return target;
  }
  return target instanceof vscode.Uri ? target.fsPath : target.file;
}
