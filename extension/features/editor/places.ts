/** Going to the code that a result is about, also when it is not in the workspace. */
import { stat } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import * as messages from "./messages";

export async function showLine(uri: vscode.Uri, line: number): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  const safe = document.lineAt(Math.min(line, document.lineCount - 1));
  const start = new vscode.Position(safe.lineNumber, safe.firstNonWhitespaceCharacterIndex);
  const editor = await vscode.window.showTextDocument(document, { selection: new vscode.Range(start, start) });
  editor.revealRange(safe.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** A result for a file that is not in the workspace: say so, and offer the ways to see it. */
export async function missing(row: { label: string; location: string }): Promise<void> {
  const file = row.location.replace(/:\d+$/, "");
  const line = Math.max(0, Number(/:(\d+)$/.exec(row.location)?.[1] ?? 1) - 1);
  const onDisk = path.isAbsolute(file) && (await isFile(file));
  const openFile = "Open File";
  const addFolder = "Add Its Folder to Workspace";
  const locate = "Locate…";
  const openFolder = "Open Folder…";
  const choice = await messages.warn(
    `${row.label} belongs to ${file}, which is not in this workspace. Open the folder that it was built from to see its results beside the code.`,
    ...(onDisk ? [openFile, addFolder] : [locate, openFolder]),
  );
  if (choice === openFile) {
    await showLine(vscode.Uri.file(file), line);
  } else if (choice === addFolder) {
    addToWorkspace(path.dirname(file));
  } else if (choice === openFolder) {
    await vscode.commands.executeCommand("vscode.openFolder");
  } else if (choice === locate) {
    await locateSource(path.basename(file), line);
  }
}

async function locateSource(name: string, line: number): Promise<void> {
  const [file] =
    (await vscode.window.showOpenDialog({ title: `Locate ${name}`, openLabel: "Open", canSelectMany: false })) ?? [];
  if (file === undefined) {
    return;
  }
  await showLine(file, line);
  if (vscode.workspace.getWorkspaceFolder(file) === undefined) {
    const add = "Add Its Folder to Workspace";
    const choice = await messages.info(
      "The results appear beside the code when the file's folder is part of the workspace.",
      add,
    );
    if (choice === add) {
      addToWorkspace(path.dirname(file.fsPath));
    }
  }
}

function addToWorkspace(folder: string): void {
  const end = vscode.workspace.workspaceFolders?.length ?? 0;
  vscode.workspace.updateWorkspaceFolders(end, 0, { uri: vscode.Uri.file(folder) });
}

async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
