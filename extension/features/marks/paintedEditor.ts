/** What is painted in one editor. The editor is only sent what changed. */
import * as vscode from "vscode";
import type { Span } from "../../core/causal/window";
import type { Marks, RulerMark, ShapeMark, TextMark } from "../../core/marks";
import type { GutterMode, MarkTypes, TextPlace } from "./markTypes";

/** The marks of one decoration type. */
interface Group {
  type: vscode.TextEditorDecorationType;
  /** Differs when the group's marks do. */
  key: string;
  options(): vscode.DecorationOptions[];
}

/** Parts that are painted independently of each other. */
type Part = "shapes" | "ruler" | TextPlace;

/** In place of a group's key, when the editor has moved its decorations. */
const moved = "moved";

export class PaintedEditor<Kind extends string, Tone extends string> {
  /** Lines that are painted. None: everything must be painted again. */
  spans: readonly Span[] = [];
  /** Lines with a cursor. */
  cursors: readonly number[] = [];
  private readonly keys = new Map<Part, Map<vscode.TextEditorDecorationType, string>>();
  private shapes: ShapeMark<Kind>[] = [];
  private ruler: RulerMark<Tone>[] = [];
  private readonly texts: Record<TextPlace, TextMark<Tone>[]> = { best: [], cursor: [] };

  constructor(
    private readonly editor: vscode.TextEditor,
    private readonly types: MarkTypes<Kind, Tone>,
  ) {}

  get marks(): Marks<Kind, Tone> {
    return { shapes: this.shapes, texts: [...this.texts.best, ...this.texts.cursor], ruler: this.ruler };
  }

  textLines(place: TextPlace): number[] {
    return this.texts[place].map(({ line }) => line);
  }

  /** Lines moved, and the editor moved its decorations by its own rules: their positions are unknown. */
  outdate(): void {
    this.spans = [];
    for (const part of this.keys.values()) {
      for (const type of part.keys()) {
        part.set(type, moved);
      }
    }
  }

  paintShapes(shapes: ShapeMark<Kind>[], mode: GutterMode): void {
    this.shapes = shapes;
    const { document } = this.editor;
    const place = mode === "inline" ? (line: number) => endOfLine(document, line) : startOfLine;
    const groups = mode === "off" ? [] : grouped(shapes, ({ kind, stale }) => `${kind} ${stale}`);
    this.paint(
      "shapes",
      groups.flatMap((marks) => {
        const type = mode === "off" ? undefined : this.types.shape(mode, marks[0].kind, marks[0].stale);
        return groupOf(type, marks, ({ line }) => ({ range: place(line) }));
      }),
    );
  }

  paintTexts(place: TextPlace, texts: TextMark<Tone>[]): void {
    this.texts[place] = texts;
    const { document } = this.editor;
    this.paint(
      place,
      grouped(texts, ({ tone }) => tone).flatMap((marks) =>
        groupOf(this.types.text(place, marks[0].tone), marks, ({ line, text }) => ({
          range: endOfLine(document, line),
          renderOptions: { after: { contentText: text } },
        })),
      ),
    );
  }

  paintRuler(ruler: RulerMark<Tone>[]): void {
    this.ruler = ruler;
    this.paint(
      "ruler",
      grouped(ruler, ({ tone }) => tone).flatMap((marks) =>
        groupOf(this.types.ruler(marks[0].tone), marks, ({ line }) => ({ range: startOfLine(line) })),
      ),
    );
  }

  private paint(part: Part, groups: readonly Group[]): void {
    const before = this.keys.get(part) ?? new Map<vscode.TextEditorDecorationType, string>();
    const after = new Map(groups.map(({ type, key }) => [type, key]));
    for (const { type, key, options } of groups) {
      if (before.get(type) !== key) {
        this.editor.setDecorations(type, options());
      }
    }
    for (const type of before.keys()) {
      if (!after.has(type)) {
        this.editor.setDecorations(type, []);
      }
    }
    this.keys.set(part, after);
  }
}

type Several<T> = [T, ...T[]];

/** In the order of each group's first mark. */
function grouped<T>(marks: readonly T[], keyOf: (mark: T) => string): Several<T>[] {
  const groups = new Map<string, Several<T>>();
  for (const mark of marks) {
    const key = keyOf(mark);
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [mark]);
    } else {
      group.push(mark);
    }
  }
  return [...groups.values()];
}

/** None when the marks have no look. */
function groupOf<T>(
  type: vscode.TextEditorDecorationType | undefined,
  marks: readonly T[],
  options: (mark: T) => vscode.DecorationOptions,
): Group[] {
  return type === undefined ? [] : [{ type, key: JSON.stringify(marks), options: () => marks.map(options) }];
}

function startOfLine(line: number): vscode.Range {
  return new vscode.Range(line, 0, line, 0);
}

function endOfLine(document: vscode.TextDocument, line: number): vscode.Range {
  const { end } = document.lineAt(line).range;
  return new vscode.Range(end, end);
}
