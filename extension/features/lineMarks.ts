/** Marks beside and behind the lines of the visible documents: shapes, words, and bars in the overview ruler. */
import * as vscode from "vscode";
import { Debounced } from "../core/debounce";
import type { InlineMode } from "../core/inline";
import { gutterSize, inlineSize } from "../core/shapes";
import { shiftLines } from "../core/shift";
import { didShow } from "../core/shown";
import type { Colours, ThemeKind } from "../core/themeColours";
import type { Engine } from "./engine";
import { coloursOf } from "./themeColours";

type GutterMode = "gutter" | "inline" | "off";

/** A result that belongs to a 0-based line. */
interface Line {
  line: number;
}

/** What stands at the lines of one editor. */
export interface Marks<Kind extends string, Tone extends string> {
  shapes: { line: number; kind: Kind; stale: boolean }[];
  texts: { line: number; text: string; tone: Tone }[];
  ruler: { line: number; tone: Tone }[];
}

/** How marks look. A tone that is never used in a place has no colour for it. */
export interface Looks<Kind extends string, Tone extends string> {
  kinds: readonly Kind[];
  /** A picture as a data URI. */
  icon(kind: Kind, colours: Colours, stale: boolean, size: number): string;
  /** Theme colours. */
  textColours: Readonly<Partial<Record<Tone, string>>>;
  /** Theme colours. */
  rulerColours: Readonly<Partial<Record<Tone, string>>>;
}

/**
 * Keeps results on the lines of every visible document: asks for them, moves them while the user types, and paints
 * them. What the results are and which of them are shown is for the classes that extend this one.
 */
export abstract class LineMarks<L extends Line, Kind extends string, Tone extends string> implements vscode.Disposable {
  private types: MarkTypes<Kind, Tone>;
  private readonly lines = new Map<string, readonly L[]>();
  private readonly shown = new Map<string, Marks<Kind, Tone>>();
  private readonly refreshSoon = new Debounced(() => void this.refresh(), 200);
  private readonly subscriptions: vscode.Disposable[];
  private round = 0;
  /** Refreshes that are not done yet. */
  private refreshing = 0;

  protected constructor(
    protected readonly engine: Engine,
    private readonly looks: Looks<Kind, Tone>,
    ...own: vscode.Disposable[]
  ) {
    this.types = new MarkTypes(looks);
    this.subscriptions = [
      ...own,
      this.refreshSoon,
      vscode.window.onDidChangeVisibleTextEditors(() => void this.refresh()),
      vscode.workspace.onDidChangeTextDocument((change) => this.edited(change)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.paint(textEditor)),
      vscode.window.onDidChangeActiveColorTheme(() => this.rebuild()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("fulcrum") || change.affectsConfiguration("workbench.colorCustomizations")) {
          this.rebuild();
        }
      }),
    ];
  }

  /** Asks the engine for the lines of one document; nothing when there is nothing to show in any document. */
  protected abstract question(): ((uri: vscode.Uri) => Promise<readonly L[]>) | undefined;

  /** Which lines are marked, and how. Every line is in the document. */
  protected abstract marks(lines: readonly L[], cursors: readonly number[], inline: InlineMode): Marks<Kind, Tone>;

  /** What a test can see of one editor. */
  decorations(uri: vscode.Uri): Marks<Kind, Tone> | undefined {
    return this.shown.get(uri.toString());
  }

  /** Whether the engine was asked about every document as it is now, and has answered. */
  get settled(): boolean {
    return this.refreshing === 0 && !this.refreshSoon.pending;
  }

  /** What is known of a line, as far as it was asked for. */
  protected at(uri: vscode.Uri, line: number): L[] {
    return (this.lines.get(uri.toString()) ?? []).filter((it) => it.line === line);
  }

  /** Asks the engine for every visible document. While it is away the marks stay: they will be the same again. */
  async refresh(): Promise<void> {
    this.refreshing += 1;
    try {
      await this.refreshNow();
    } finally {
      this.refreshing -= 1;
      didShow();
    }
  }

  private async refreshNow(): Promise<void> {
    this.round += 1;
    const round = this.round;
    const ask = this.question();
    if (ask === undefined) {
      this.lines.clear();
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
            this.lines.set(document.uri.toString(), lines);
          } else {
            // Typed meanwhile: this is the answer for another text.
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
    this.types = new MarkTypes(this.looks);
    this.paintAll();
  }

  private paintAll(): void {
    this.shown.clear();
    for (const editor of editors()) {
      this.paint(editor);
    }
  }

  private paint(editor: vscode.TextEditor): void {
    const { document } = editor;
    if (document.uri.scheme !== "file") {
      return;
    }
    const key = document.uri.toString();
    const settings = vscode.workspace.getConfiguration("fulcrum", document);
    const mode = settings.get<GutterMode>("gutter", "gutter");
    const lines = (this.lines.get(key) ?? []).filter((line) => line.line < document.lineCount);
    const cursors = editor.selections.map((selection) => selection.active.line);
    const all = this.marks(lines, cursors, settings.get<InlineMode>("inlineText", "currentAndBest"));
    const marks = {
      shapes: mode === "off" ? [] : all.shapes,
      texts: all.texts,
      ruler: settings.get<boolean>("overviewRuler", true) ? all.ruler : [],
    };
    const place = mode === "inline" ? (line: number) => endOfLine(document, line) : startOfLine;
    for (const { kind, stale, type } of this.types.shapes(mode)) {
      const marked = marks.shapes.filter((mark) => mark.kind === kind && mark.stale === stale);
      editor.setDecorations(
        type,
        marked.map(({ line }) => place(line)),
      );
    }
    for (const [tone, type] of this.types.texts) {
      const texts = marks.texts.filter((text) => text.tone === tone);
      editor.setDecorations(
        type,
        texts.map(({ line, text }) => ({
          range: endOfLine(document, line),
          renderOptions: { after: { contentText: text } },
        })),
      );
    }
    for (const [tone, type] of this.types.rulers) {
      const bars = marks.ruler.filter((bar) => bar.tone === tone);
      editor.setDecorations(
        type,
        bars.map(({ line }) => startOfLine(line)),
      );
    }
    this.shown.set(key, marks);
    didShow();
  }
}

interface ShapeType<Kind> {
  kind: Kind;
  stale: boolean;
  type: vscode.TextEditorDecorationType;
}

/**
 * Every decoration type, made once and shared by all lines: a type is a CSS rule.
 *
 * At the end of a line the shape is a `before` and the text an `after`, which puts them in this order.
 */
class MarkTypes<Kind extends string, Tone extends string> implements vscode.Disposable {
  readonly texts: ReadonlyMap<Tone, vscode.TextEditorDecorationType>;
  readonly rulers: ReadonlyMap<Tone, vscode.TextEditorDecorationType>;
  private readonly byMode = new Map<GutterMode, readonly ShapeType<Kind>[]>();
  private readonly all: vscode.TextEditorDecorationType[] = [];

  constructor(private readonly looks: Looks<Kind, Tone>) {
    this.texts = this.eachTone(looks.textColours, (color) => ({
      after: { color, margin: "0 0 0 2.5em", fontStyle: "italic" },
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
    }));
    this.rulers = this.eachTone(looks.rulerColours, (overviewRulerColor) => ({
      overviewRulerColor,
      overviewRulerLane: vscode.OverviewRulerLane.Right,
    }));
  }

  /** The types of a mode: each kind, fresh and stale. */
  shapes(mode: GutterMode): readonly ShapeType<Kind>[] {
    let types = this.byMode.get(mode);
    if (types === undefined) {
      types =
        mode === "off"
          ? []
          : this.looks.kinds.flatMap((kind) =>
              [false, true].map((stale) => ({ kind, stale, type: this.shape(mode, kind, stale) })),
            );
      this.byMode.set(mode, types);
    }
    return types;
  }

  dispose(): void {
    for (const type of this.all) {
      type.dispose();
    }
  }

  private shape(mode: "gutter" | "inline", kind: Kind, stale: boolean): vscode.TextEditorDecorationType {
    const [light, dark] = themePair();
    const size = mode === "gutter" ? gutterSize : inlineSize;
    const icon = (theme: ThemeKind) => vscode.Uri.parse(this.looks.icon(kind, coloursOf(theme), stale, size), true);
    const looks = (theme: ThemeKind): vscode.ThemableDecorationRenderOptions =>
      mode === "gutter"
        ? { gutterIconPath: icon(theme), gutterIconSize: "contain" }
        : { before: { contentIconPath: icon(theme), margin: "0 -1.5em 0 2em" } };
    const rangeBehavior = vscode.DecorationRangeBehavior.ClosedOpen;
    return this.create({ light: looks(light), dark: looks(dark), rangeBehavior });
  }

  private eachTone(
    colours: Readonly<Partial<Record<Tone, string>>>,
    options: (colour: vscode.ThemeColor) => vscode.DecorationRenderOptions,
  ): ReadonlyMap<Tone, vscode.TextEditorDecorationType> {
    const entries = Object.entries(colours) as [Tone, string][];
    return new Map(entries.map(([tone, colour]) => [tone, this.create(options(new vscode.ThemeColor(colour)))]));
  }

  private create(options: vscode.DecorationRenderOptions): vscode.TextEditorDecorationType {
    const type = vscode.window.createTextEditorDecorationType(options);
    this.all.push(type);
    return type;
  }
}

/** The editor knows light and dark only; high contrast takes the place of either. */
function themePair(): [light: ThemeKind, dark: ThemeKind] {
  switch (vscode.window.activeColorTheme.kind) {
    case vscode.ColorThemeKind.HighContrast:
      return ["light", "highContrast"];
    case vscode.ColorThemeKind.HighContrastLight:
      return ["highContrastLight", "dark"];
    default:
      return ["light", "dark"];
  }
}

function editors(): readonly vscode.TextEditor[] {
  return vscode.window.visibleTextEditors.filter((editor) => editor.document.uri.scheme === "file");
}

function startOfLine(line: number): vscode.Range {
  return new vscode.Range(line, 0, line, 0);
}

function endOfLine(document: vscode.TextDocument, line: number): vscode.Range {
  const { end } = document.lineAt(line).range;
  return new vscode.Range(end, end);
}
