/** Shapes in the gutter, text at the end of lines, and marks in the overview ruler. */
import * as vscode from "vscode";
import { Debounced } from "../core/debounce";
import { type InlineMode, inlineTexts, rulerMarks } from "../core/inline";
import type { LineShape, LineSpeedup } from "../core/protocol";
import { gutterSize, inlineSize, shapeDataUri, shapes, type ThemeKind, type Tone } from "../core/shapes";
import { shiftLines } from "../core/shift";
import type { Engine } from "./engine";
import type { GutterChoice } from "./gutterChoice";
import type { Session } from "./session";

export type GutterMode = "gutter" | "inline" | "off";
type TextTone = Tone | "stale";

const textColours: Readonly<Record<TextTone, string>> = {
  gain: "fulcrum.gainForeground",
  flat: "fulcrum.flatForeground",
  unknown: "fulcrum.flatForeground",
  harm: "fulcrum.harmForeground",
  stale: "fulcrum.staleForeground",
};

/** What a test can see of one editor. */
export interface ShownDecorations {
  shapes: { line: number; shape: LineShape; stale: boolean }[];
  texts: { line: number; text: string }[];
  ruler: { line: number; tone: "gain" | "harm" }[];
}

export class Gutter implements vscode.Disposable {
  private types: DecorationTypes;
  private readonly lines = new Map<string, readonly LineSpeedup[]>();
  private readonly shown = new Map<string, ShownDecorations>();
  private readonly refreshSoon = new Debounced(() => void this.refresh(), 200);
  private readonly subscriptions: vscode.Disposable[];
  private round = 0;

  constructor(
    private readonly engine: Engine,
    private readonly session: Session,
    private readonly choice: GutterChoice,
  ) {
    this.types = new DecorationTypes();
    this.subscriptions = [
      this.refreshSoon,
      session.onDidChangeResults(() => void this.refresh()),
      choice.onDidChange(() => void this.refresh()),
      vscode.window.onDidChangeVisibleTextEditors(() => void this.refresh()),
      vscode.workspace.onDidChangeTextDocument((change) => this.edited(change)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.paint(textEditor)),
      vscode.window.onDidChangeActiveColorTheme(() => this.rebuild()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("fulcrum")) {
          this.rebuild();
        }
      }),
    ];
  }

  decorations(uri: vscode.Uri): ShownDecorations | undefined {
    return this.shown.get(uri.toString());
  }

  /** Asks the engine for every visible document. While it is away the marks stay: they will be the same again. */
  async refresh(): Promise<void> {
    this.round += 1;
    const round = this.round;
    if (this.session.summary === null || this.choice.source !== "causal") {
      this.lines.clear();
      this.paintAll();
      return;
    }
    if (this.engine.state !== "running") {
      return;
    }
    const documents = new Set(this.editors().map((editor) => editor.document));
    await Promise.all(
      [...documents].map(async (document) => {
        const version = document.version;
        try {
          const { lines } = await this.engine.request("fulcrum/lineSpeedups", {
            uri: document.uri.toString(),
            progressPoint: this.session.progressPoint,
          });
          if (round === this.round && version === document.version) {
            this.lines.set(document.uri.toString(), lines);
          }
        } catch (error) {
          this.engine.log.debug(`No line speedups for ${document.uri}: ${error}`);
        }
      }),
    );
    if (round === this.round) {
      this.paintAll();
    }
  }

  dispose(): void {
    this.types.dispose();
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  private edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const key = document.uri.toString();
    const lines = this.lines.get(key);
    if (lines === undefined || contentChanges.length === 0) {
      return;
    }
    const changes = contentChanges.map(({ range, text }) => ({
      startLine: range.start.line,
      startCharacter: range.start.character,
      endLine: range.end.line,
      text,
    }));
    this.lines.set(key, shiftLines(lines, changes));
    this.refreshSoon.trigger();
  }

  private rebuild(): void {
    this.types.dispose();
    this.types = new DecorationTypes();
    this.paintAll();
  }

  private editors(): readonly vscode.TextEditor[] {
    return vscode.window.visibleTextEditors.filter((editor) => editor.document.uri.scheme === "file");
  }

  private paintAll(): void {
    this.shown.clear();
    for (const editor of this.editors()) {
      this.paint(editor);
    }
  }

  private paint(editor: vscode.TextEditor): void {
    const key = editor.document.uri.toString();
    if (editor.document.uri.scheme !== "file") {
      return;
    }
    const settings = vscode.workspace.getConfiguration("fulcrum", editor.document);
    const lineCount = editor.document.lineCount;
    const lines = (this.lines.get(key) ?? []).filter((line) => line.line < lineCount);

    const mode = settings.get<GutterMode>("gutter", "gutter");
    const marks = mode === "off" ? [] : bestOfEachLine(lines);
    for (const [kind, type] of this.types.shapes(mode)) {
      const [shape, stale] = kind;
      const ranges = marks
        .filter((line) => line.shape === shape && (line.state === "stale") === stale)
        .map((line) => (mode === "inline" ? endOfLine(editor, line.line) : wholeLine(line.line)));
      editor.setDecorations(type, ranges);
    }

    const cursors = editor.selections.map((selection) => selection.active.line);
    const texts = inlineTexts(bestOfEachLine(lines), cursors, settings.get<InlineMode>("inlineText", "currentAndBest"));
    for (const [tone, type] of this.types.texts) {
      editor.setDecorations(
        type,
        texts
          .filter((text) => text.tone === tone)
          .map((text) => ({
            range: endOfLine(editor, text.line),
            renderOptions: { after: { contentText: text.text } },
          })),
      );
    }

    const ruler = settings.get<boolean>("overviewRuler", true) ? rulerMarks(lines) : [];
    for (const [tone, type] of this.types.rulers) {
      editor.setDecorations(
        type,
        ruler.filter((mark) => mark.tone === tone).map((mark) => wholeLine(mark.line)),
      );
    }

    this.shown.set(key, {
      shapes: marks.map((line) => ({ line: line.line, shape: line.shape, stale: line.state === "stale" })),
      texts: texts.map(({ line, text }) => ({ line, text })),
      ruler,
    });
  }
}

/**
 * Every decoration type, made once and shared by all lines: a type is a CSS rule.
 *
 * At the end of a line the shape is a `before` and the text an `after`, which puts them in this order.
 */
class DecorationTypes implements vscode.Disposable {
  readonly texts = new Map<TextTone, vscode.TextEditorDecorationType>();
  readonly rulers = new Map<"gain" | "harm", vscode.TextEditorDecorationType>();
  private readonly shapeTypes = new Map<GutterMode, [[LineShape, boolean], vscode.TextEditorDecorationType][]>();
  private readonly all: vscode.TextEditorDecorationType[] = [];

  constructor() {
    for (const tone of Object.keys(textColours) as TextTone[]) {
      const after: vscode.ThemableDecorationAttachmentRenderOptions = {
        color: new vscode.ThemeColor(textColours[tone]),
        margin: "0 0 0 2.5em",
        fontStyle: "italic",
      };
      this.texts.set(tone, this.create({ after, rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen }));
    }
    for (const [tone, colour] of [
      ["gain", "fulcrum.overviewRulerGain"],
      ["harm", "fulcrum.overviewRulerHarm"],
    ] as const) {
      const overviewRulerColor = new vscode.ThemeColor(colour);
      this.rulers.set(tone, this.create({ overviewRulerColor, overviewRulerLane: vscode.OverviewRulerLane.Right }));
    }
  }

  /** The 18 types of a mode: nine shapes, each fresh and stale. */
  shapes(mode: GutterMode): readonly [[LineShape, boolean], vscode.TextEditorDecorationType][] {
    let types = this.shapeTypes.get(mode);
    if (types === undefined) {
      types =
        mode === "off" ? [] : shapes.flatMap((shape) => [false, true].map((stale) => this.shape(mode, shape, stale)));
      this.shapeTypes.set(mode, types);
    }
    return types;
  }

  dispose(): void {
    for (const type of this.all) {
      type.dispose();
    }
  }

  private shape(
    mode: GutterMode,
    shape: LineShape,
    stale: boolean,
  ): [[LineShape, boolean], vscode.TextEditorDecorationType] {
    const [light, dark] = themePair();
    const size = mode === "gutter" ? gutterSize : inlineSize;
    const icon = (theme: ThemeKind) => vscode.Uri.parse(shapeDataUri(shape, theme, stale, size), true);
    const looks = (theme: ThemeKind): vscode.ThemableDecorationRenderOptions =>
      mode === "gutter"
        ? { gutterIconPath: icon(theme), gutterIconSize: "contain" }
        : { before: { contentIconPath: icon(theme), margin: "0 -1.5em 0 2em" } };
    const type = this.create({
      light: looks(light),
      dark: looks(dark),
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
    });
    return [[shape, stale], type];
  }

  private create(options: vscode.DecorationRenderOptions): vscode.TextEditorDecorationType {
    const type = vscode.window.createTextEditorDecorationType(options);
    this.all.push(type);
    return type;
  }
}

/** The editor knows light and dark only; high contrast takes the place of either. */
export function themePair(): [light: ThemeKind, dark: ThemeKind] {
  switch (vscode.window.activeColorTheme.kind) {
    case vscode.ColorThemeKind.HighContrast:
      return ["light", "highContrast"];
    case vscode.ColorThemeKind.HighContrastLight:
      return ["highContrastLight", "dark"];
    default:
      return ["light", "dark"];
  }
}

/** After edits two recorded lines can meet on one line: the better ranked one is shown, a fresh one before a stale one. */
function bestOfEachLine(lines: readonly LineSpeedup[]): LineSpeedup[] {
  const best = new Map<number, LineSpeedup>();
  const order = (line: LineSpeedup) => (line.state === "stale" ? 1e9 : 0) + line.rank;
  for (const line of lines) {
    const other = best.get(line.line);
    if (other === undefined || order(line) < order(other)) {
      best.set(line.line, line);
    }
  }
  return [...best.values()];
}

function wholeLine(line: number): vscode.Range {
  return new vscode.Range(line, 0, line, 0);
}

function endOfLine(editor: vscode.TextEditor, line: number): vscode.Range {
  const end = editor.document.lineAt(line).range.end;
  return new vscode.Range(end, end);
}
