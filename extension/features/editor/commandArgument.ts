/** What a command is invoked on: a file of the explorer, a path, or a row of the Runs view. */
import * as vscode from "vscode";

export type CommandArgument = vscode.Uri | string | { file: string };

/** As the editor's own commands take it: `preserveFocus` leaves the keyboard focus where it is. */
export interface FocusOptions {
  preserveFocus?: boolean;
}

/** The argument's path; `undefined` when the command was invoked without an argument. */
export function fileOf(argument: CommandArgument | undefined): string | undefined {
  if (argument === undefined || typeof argument === "string") {
    return argument;
  }
  return argument instanceof vscode.Uri ? argument.fsPath : argument.file;
}
