/** Marks beside and behind the lines of the visible documents: shapes, texts, and bars in the overview ruler. */
import * as vscode from "vscode";
import type { InlineMode } from "../../core/causal/inline";
import { movesLines, shiftLines } from "../../core/causal/shift";
import { covers, onLine, type Span, spansAround, within } from "../../core/causal/window";
import { Debounced } from "../../core/debounce";
import type { RulerMark, ShapeMark, TextMark } from "../../core/marks";
import { Owner } from "../../core/owner";
import { didShow, type MarksSource } from "../../core/shown";
import type { Engine } from "../editor/engine";
import { type GutterMode, type Looks, MarkTypes } from "./markTypes";
import { PaintedEditor } from "./paintedEditor";

/** A result that belongs to a 0-based line. */
interface Line {
  line: number;
}

/** What an answer comes down to: computed once, so that moving the cursor costs nothing. */
export interface Digest<Shown extends Line, Tone extends string> {
  /** One for each line, in the order of lines. */
  shapes: readonly Shown[];
  /** Those whose text is shown wherever the cursor is. */
  best: readonly Shown[];
  ruler: readonly RulerMark<Tone>[];
}

/** What is known about one document. */
interface Known<L extends Line, Shown extends Line, Tone extends string> extends Digest<Shown, Tone> {
  /** All results, in the order of lines: several can belong to one. */
  all: readonly L[];
}

/**
 * Keeps results on the lines of every visible document: requests them, moves them while the user types, and paints them.
 * What the results are, and which of them are shown, is up to the classes that extend this one.
 *
 * Typing costs the same in a file of any size: the editor moves what is painted by itself, only what is near the screen
 * is painted, letters within a line paint nothing, and moving the cursor paints only the text at the cursor.
 */
export abstract class LineMarks<
  L extends Line,
  Shown extends L,
  Kind extends string,
  Tone extends string,
> extends Owner {
  private types: MarkTypes<Kind, Tone>;
  private readonly known = new Map<string, Known<L, Shown, Tone>>();
  private painted = new WeakMap<vscode.TextEditor, PaintedEditor<Kind, Tone>>();
  private readonly refreshSoon = this.own(new Debounced(() => void this.refresh(), 200));
  private round = 0;
  /** Refreshes in progress. */
  private refreshing = 0;

  protected constructor(
    protected readonly engine: Engine,
    private readonly source: MarksSource,
    private readonly looks: Looks<Kind, Tone>,
    ...own: vscode.Disposable[]
  ) {
    super();
    this.types = new MarkTypes(looks);
    this.ownAll(
      ...own,
      vscode.window.onDidChangeVisibleTextEditors(() => void this.refresh()),
      vscode.workspace.onDidChangeTextDocument((change) => this.edited(change)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.cursorMoved(textEditor)),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.scrolled(textEditor)),
      vscode.window.onDidChangeActiveColorTheme(() => this.rebuild()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("fulcrum") || change.affectsConfiguration("workbench.colorCustomizations")) {
          this.rebuild();
        }
      }),
    );
  }

  /** Asks the engine for the lines of one document; `undefined` when there is nothing to show in any document. */
  protected abstract question(): ((uri: vscode.Uri) => Promise<readonly L[]>) | undefined;

  protected abstract digest(lines: readonly L[]): Digest<Shown, Tone>;

  protected abstract shape(line: Shown): Pick<ShapeMark<Kind>, "kind" | "stale">;

  /** The texts of those lines that have one. */
  protected abstract texts(lines: readonly Shown[], cursors: readonly number[], inline: InlineMode): TextMark<Tone>[];

  override dispose(): void {
    super.dispose();
    this.types.dispose();
  }

  /** What is known about a line, as far as it was requested. */
  protected at(uri: vscode.Uri, line: number): L[] {
    return onLine(this.known.get(uri.toString())?.all ?? [], line);
  }

  /** Asks the engine about every visible document. While the engine is away the marks stay. */
  async refresh(): Promise<void> {
    this.refreshing += 1;
    this.reportSettled();
    try {
      await this.refreshNow();
    } finally {
      this.refreshing -= 1;
      this.reportSettled();
    }
  }

  private reportSettled(): void {
    const settled = this.refreshing === 0 && !this.refreshSoon.pending;
    didShow({ kind: "settled", source: this.source, settled });
  }

  private async refreshNow(): Promise<void> {
    this.round += 1;
    const round = this.round;
    const ask = this.question();
    if (ask === undefined) {
      this.known.clear();
      this.paintAll();
      return;
    }
    if (this.engine.state !== "running") {
      return;
    }
    const documents = new Set(editors().map((editor) => editor.document));
    await Promise.all(
      [...documents].map(async (document) => {
        const version = document.version;
        try {
          const lines = await ask(document.uri);
          if (round !== this.round) {
            return;
          }
          if (version === document.version) {
            this.learn(document.uri, lines);
          } else {
            // The user has typed meanwhile: this answer is about another text.
            this.refreshSoon.trigger();
          }
        } catch (error) {
          this.engine.log.debug(`No results for ${document.uri}: ${error}`);
        }
      }),
    );
    if (round === this.round) {
      this.paintAll();
    }
  }

  private learn(uri: vscode.Uri, lines: readonly L[]): void {
    const { shapes, best, ruler } = this.digest(lines);
    this.known.set(uri.toString(), {
      all: [...lines].sort(byLine),
      shapes: [...shapes].sort(byLine),
      best,
      ruler,
    });
  }

  private edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const key = document.uri.toString();
    const known = this.known.get(key);
    if (known === undefined || contentChanges.length === 0) {
      return;
    }
    const changes = contentChanges.map(({ range, text }) => ({
      startLine: range.start.line,
      startCharacter: range.start.character,
      endLine: range.end.line,
      text,
    }));
    if (movesLines(changes)) {
      const shifted = <T extends Line>(lines: readonly T[]) => shiftLines(lines, changes);
      const { all, shapes, best, ruler } = known;
      this.known.set(key, { all: shifted(all), shapes: shifted(shapes), best: shifted(best), ruler: shifted(ruler) });
      for (const editor of editors().filter((it) => it.document === document)) {
        this.painted.get(editor)?.outdate();
      }
    }
    // The answer about a large file takes a while to make, to send and to read.
    this.refreshSoon.trigger(known.all.length / 20);
    this.reportSettled();
  }

  private cursorMoved(editor: vscode.TextEditor): void {
    const painted = this.painted.get(editor);
    if (painted === undefined || painted.spans.length === 0) {
      this.paint(editor);
    } else if (painted.cursors.join() !== cursorsOf(editor).join()) {
      this.paintCursor(editor, painted);
      this.report(editor, painted);
    }
  }

  private scrolled(editor: vscode.TextEditor): void {
    const painted = this.painted.get(editor);
    if (painted === undefined || !covers(painted.spans, seenIn(editor))) {
      this.paint(editor);
    }
  }

  private rebuild(): void {
    this.types.dispose();
    this.types = new MarkTypes(this.looks);
    this.painted = new WeakMap();
    this.paintAll();
  }

  private paintAll(): void {
    for (const editor of editors()) {
      this.paint(editor);
    }
  }

  private paint(editor: vscode.TextEditor): void {
    const { document } = editor;
    if (document.uri.scheme !== "file") {
      return;
    }
    const painted = this.painted.get(editor) ?? new PaintedEditor(editor, this.types);
    this.painted.set(editor, painted);
    painted.spans = spansAround(seenIn(editor));
    const settings = vscode.workspace.getConfiguration("fulcrum", document);
    const mode = settings.get<GutterMode>("gutter", "gutter");
    const known = this.known.get(document.uri.toString());
    const near = known === undefined || mode === "off" ? [] : inDocument(within(known.shapes, painted.spans), document);
    const shapes = near.map((it) => ({ line: it.line, ...this.shape(it) }));
    painted.paintShapes(shapes, mode);
    const best = once(inDocument(known?.best ?? [], document));
    painted.paintTexts("best", this.texts(best, [], inlineModeOf(document)));
    this.paintCursor(editor, painted);
    const hasRuler = settings.get<boolean>("overviewRuler", true);
    painted.paintRuler(hasRuler ? inDocument(known?.ruler ?? [], document) : []);
    this.report(editor, painted);
  }

  /** The texts at the cursors, except where the line has its text anyway. */
  private paintCursor(editor: vscode.TextEditor, painted: PaintedEditor<Kind, Tone>): void {
    const { document } = editor;
    const shapes = this.known.get(document.uri.toString())?.shapes ?? [];
    painted.cursors = cursorsOf(editor);
    const shown = new Set(painted.textLines("best"));
    const lines = inDocument(
      painted.cursors.flatMap((line) => onLine(shapes, line)),
      document,
    );
    const others = once(lines).filter(({ line }) => !shown.has(line));
    painted.paintTexts("cursor", this.texts(others, painted.cursors, inlineModeOf(document)));
  }

  private report({ document }: vscode.TextEditor, { marks }: PaintedEditor<Kind, Tone>): void {
    didShow({ kind: "marks", source: this.source, uri: document.uri.toString(), marks });
  }
}

function editors(): readonly vscode.TextEditor[] {
  return vscode.window.visibleTextEditors.filter((editor) => editor.document.uri.scheme === "file");
}

function byLine(a: Line, b: Line): number {
  return a.line - b.line;
}

/** One for each line: the last. */
function once<T extends Line>(lines: readonly T[]): T[] {
  return [...new Map(lines.map((it) => [it.line, it])).values()];
}

function inDocument<T extends Line>(lines: readonly T[], { lineCount }: vscode.TextDocument): T[] {
  return lines.filter(({ line }) => line < lineCount);
}

function inlineModeOf(document: vscode.TextDocument): InlineMode {
  return vscode.workspace.getConfiguration("fulcrum", document).get<InlineMode>("inlineText", "currentAndBest");
}

function cursorsOf(editor: vscode.TextEditor): number[] {
  return [...new Set(editor.selections.map((selection) => selection.active.line))];
}

/** The lines on the screen; the cursor's while the editor does not know them yet. */
function seenIn(editor: vscode.TextEditor): Span[] {
  const seen = editor.visibleRanges.map(({ start, end }) => ({ first: start.line, last: end.line }));
  const { line } = editor.selection.active;
  return seen.length > 0 ? seen : [{ first: line, last: line }];
}
