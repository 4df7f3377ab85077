/** Asks what counts as progress when a program without a progress point is run. */
import * as path from "node:path";
import * as vscode from "vscode";
import { progressLanguages } from "../../core/causal/progressLines";
import type { RunRequest } from "../../core/causal/runRequest";
import type { ProgressLines } from "../progressPoints/progressLines";
import { hasProgressPoint } from "./programs";

/** Long enough to see where the time goes. */
const searchSeconds = 10;

interface Answer extends vscode.QuickPickItem {
  choice: "here" | "endToEnd" | "search" | "insert";
}

/**
 * The request with what counts as progress; unchanged when the program knows, or the user wants to see where it spends its
 * time. `undefined` when the user went away.
 */
export async function withProgress(request: RunRequest, lines: ProgressLines): Promise<RunRequest | undefined> {
  const kept = await lines.forProgram(request.program);
  const known = { ...request, progress: [...new Set([...request.progress, ...kept])] };
  if (known.progress.length > 0 || known.endToEnd !== null || (await hasProgressPoint(known.program))) {
    return known;
  }
  const editor = vscode.window.activeTextEditor;
  const answer = await vscode.window.showQuickPick(answersAt(editor), {
    title: `What Is Progress for ${path.basename(request.program)}?`,
    placeHolder: "A place that the program passes once for each unit of work",
    ignoreFocusOut: true,
  });
  switch (answer?.choice) {
    case "here": {
      const { document, selection } = editor as vscode.TextEditor;
      lines.add({ file: document.uri.fsPath, line: selection.active.line });
      return { ...known, progress: await lines.forProgram(known.program) };
    }
    case "insert":
      await vscode.commands.executeCommand("fulcrum.progressPoint.insert");
      return undefined;
    case "endToEnd":
      return { ...known, endToEnd: { runs: null } };
    case "search":
      return { ...known, durationSeconds: searchSeconds };
    default:
      return undefined;
  }
}

function answersAt(editor: vscode.TextEditor | undefined): Answer[] {
  const isCode = editor?.document.uri.scheme === "file" && progressLanguages.includes(editor.document.languageId);
  const answers: Answer[] = [
    {
      label: "$(debug-restart) The whole program: it starts, works and ends",
      detail: "Runs it repeatedly; each run is one experiment. Nothing else is needed.",
      choice: "endToEnd",
    },
    {
      label: "$(search) I do not know yet",
      detail: "Runs it for ten seconds and shows the busiest line, so that you can count the loop around it.",
      choice: "search",
    },
  ];
  if (editor === undefined || !isCode) {
    return answers;
  }
  const { document, selection } = editor;
  const line = selection.active.line;
  const place = `${path.basename(document.uri.fsPath)}:${line + 1}`;
  return [
    {
      label: `$(target) The line with the cursor, ${place}`,
      description: document.lineAt(line).text.trim().slice(0, 60),
      detail: "Counts how often the program passes it. The source stays as it is.",
      choice: "here",
    },
    {
      label: `$(edit) Insert a progress point at ${place}`,
      detail: "Changes the source. Build and run again afterwards.",
      choice: "insert",
    },
    ...answers,
  ];
}
