/** *Toggle Progress Point Here*: lines that count as progress without a change of the source, shown beside the code. */
import { realpathSync } from "node:fs";
import * as vscode from "vscode";
import {
  linesOfProgram,
  locationOf,
  moved,
  type ProgressLine,
  progressLanguages,
  renamed,
  toggled,
  without,
} from "../../core/causal/progressLines";
import { Debounced } from "../../core/debounce";
import { Owner } from "../../core/owner";
import { didShow } from "../../core/shown";
import { workspaceOf } from "../editor/folders";
import * as messages from "../editor/messages";
import { textsIn } from "../run/programs";

const key = "fulcrum.progressLines";

export class ProgressLines extends Owner {
  private lines: readonly ProgressLine[];
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChange = this.changed.event;
  private readonly mark = vscode.window.createTextEditorDecorationType({
    after: {
      contentText: "◆ counts as progress",
      color: new vscode.ThemeColor("descriptionForeground"),
      margin: "0 0 0 2.5em",
      fontStyle: "italic",
    },
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.infoForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
  });
  private readonly keep = this.own(new Debounced(() => void this.memory.update(key, this.lines), 500));

  constructor(private readonly memory: vscode.Memento) {
    super();
    this.lines = memory.get<ProgressLine[]>(key, []);
    this.ownAll(
      this.mark,
      vscode.commands.registerCommand("fulcrum.progressPoint.toggleHere", (place?: unknown) => this.toggle(place)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.paint()),
      vscode.workspace.onDidChangeTextDocument((change) => this.edited(change)),
      vscode.workspace.onDidRenameFiles(({ files }) => {
        const all = files.reduce((lines, it) => renamed(lines, it.oldUri.fsPath, it.newUri.fsPath), [...this.lines]);
        this.set(all);
      }),
      vscode.workspace.onDidDeleteFiles(({ files }) => {
        this.set(files.reduce((lines, it) => without(lines, it.fsPath), [...this.lines]));
      }),
    );
    this.paint();
  }

  /** 0-based, of one document. */
  of(uri: vscode.Uri): number[] {
    return this.lines.filter(({ file }) => file === uri.fsPath).map(({ line }) => line);
  }

  /** The lines that lie in a program, as a run takes them. */
  async forProgram(program: string): Promise<string[]> {
    if (this.lines.length === 0) {
      return [];
    }
    const lines = linesOfProgram(this.lines, await textsIn(program));
    return lines.map((line) => locationOf(line, realFolder(workspaceOf(line.file))));
  }

  /** Lets a line count, and says so. */
  add(at: ProgressLine): void {
    if (!this.lines.some((line) => line.file === at.file && line.line === at.line)) {
      this.set(toggled(this.lines, at));
    }
  }

  /** On the cursor's line, or the one whose number's menu was used. */
  private async toggle(place: unknown): Promise<void> {
    const at = lineOf(place);
    const document = at && vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === at.file);
    if (at === undefined || (document !== undefined && !progressLanguages.includes(document.languageId))) {
      await messages.info(
        "Put the cursor on a line of a C, C++ or Rust file first: one that runs once for each unit of work.",
      );
      return;
    }
    this.set(toggled(this.lines, at));
  }

  private set(lines: readonly ProgressLine[]): void {
    this.lines = lines;
    void this.memory.update(key, lines);
    this.paint();
    this.changed.fire();
  }

  private edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (contentChanges.length === 0 || !this.lines.some(({ file }) => file === document.uri.fsPath)) {
      return;
    }
    const changes = contentChanges.map(({ range, text }) => ({
      startLine: range.start.line,
      startCharacter: range.start.character,
      endLine: range.end.line,
      text,
    }));
    const after = moved(this.lines, document.uri.fsPath, changes);
    if (after !== this.lines) {
      this.lines = after;
      this.keep.trigger();
      this.paint();
      this.changed.fire();
    }
  }

  private paint(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme !== "file") {
        continue;
      }
      const lines = this.of(editor.document.uri).filter((line) => line < editor.document.lineCount);
      editor.setDecorations(
        this.mark,
        lines.map((line) => ({ range: endOf(editor.document, line), hoverMessage: hover(line) })),
      );
    }
    didShow({ kind: "view" });
  }
}

function endOf(document: vscode.TextDocument, line: number): vscode.Range {
  const { end } = document.lineAt(line).range;
  return new vscode.Range(end, end);
}

function hover(line: number): vscode.MarkdownString {
  const text = new vscode.MarkdownString(
    `A causal run counts how often the program passes this line, as a progress point would. The source stays as it is.\n\n[Stop counting it](command:fulcrum.progressPoint.toggleHere?${encodeURIComponent(JSON.stringify([{ line }]))})`,
  );
  text.isTrusted = { enabledCommands: ["fulcrum.progressPoint.toggleHere"] };
  return text;
}

/** What a menu of line numbers hands over (its lines begin with 1), what a hover does, or the cursor's line. */
function lineOf(place: unknown): ProgressLine | undefined {
  const given = (place ?? {}) as { uri?: unknown; lineNumber?: unknown; line?: unknown };
  if (given.uri instanceof vscode.Uri && typeof given.lineNumber === "number") {
    return { file: given.uri.fsPath, line: given.lineNumber - 1 };
  }
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || editor.document.uri.scheme !== "file") {
    return undefined;
  }
  const line = typeof given.line === "number" ? given.line : editor.selection.active.line;
  return { file: editor.document.uri.fsPath, line };
}

/** Debug information names files by their real paths. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
