/** Which folder of the workspace something belongs to. */
import { homedir } from "node:os";
import * as vscode from "vscode";

/** The workspace folder around a file or folder, else the first; `undefined` when none is open. */
export function folderOf(file: string): string | undefined {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file)) ?? vscode.workspace.workspaceFolders?.[0];
  return folder?.uri.fsPath;
}

/** Where runs are kept of what runs in a folder: the workspace folder around it, else the first, else the folder itself. */
export function workspaceOf(cwd: string): string {
  return folderOf(cwd) ?? cwd;
}

/** The folder of the active editor's workspace, else the first, else the home folder. */
export function baseFolder(): string {
  const active = vscode.window.activeTextEditor?.document.uri;
  const folder = active === undefined ? undefined : vscode.workspace.getWorkspaceFolder(active);
  return (folder ?? vscode.workspace.workspaceFolders?.[0])?.uri.fsPath ?? homedir();
}

/** Fulcrum's settings as they hold for a folder. */
export function settingsFor(folder: string): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("fulcrum", vscode.Uri.file(folder));
}
