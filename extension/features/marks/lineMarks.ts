/** Marks beside and behind the lines of the visible documents: shapes, words, and bars in the overview ruler. */
import * as vscode from "vscode";
import type { InlineMode } from "../../core/causal/inline";
import { gutterSize, inlineSize } from "../../core/causal/shapes";
import { movesLines, shiftLines } from "../../core/causal/shift";
import { covers, onLine, type Span, spansAround, within } from "../../core/causal/window";
import { Debounced } from "../../core/debounce";
import { didShow } from "../../core/shown";
import type { Colours, ThemeKind } from "../../core/themeColours";
import type { Engine } from "../editor/engine";
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

/** What an answer comes down to: made once, so that moving the cursor costs nothing. */
export interface Digest<Shown extends Line, Tone extends string> {
  /** One for each line, in the order of lines. */
  shapes: readonly Shown[];
  /** Those whose words stand there wherever the cursor is. */
  best: readonly Shown[];
  ruler: readonly { line: number; tone: Tone }[];
}

/** What is known of one document. */
interface Known<L extends Line, Shown extends Line, Tone extends string> extends Digest<Shown, Tone> {
  /** All results, in the order of lines: several can stand on one. */
  all: readonly L[];
}

/** In place of what a decoration type was given. */
const moved = "moved";

/** What was painted in one editor. */
interface Painted {
  spans: readonly Span[];
  /** The lines with a cursor. */
  cursors: string;
  /** By decoration type, what it was given: what is there already is not sent again. */
  given: Map<vscode.TextEditorDecorationType, string>;
}

/**
 * Keeps results on the lines of every visible document: asks for them, moves them while the user types, and paints
 * them. What the results are and which of them are shown is for the classes that extend this one.
 *
 * Whatever the size of a file, typing in it costs the same: the editor moves what is painted by itself, only what is near the
 * screen is painted, and letters within a line paint nothing.
 */
export abstract class LineMarks<L extends Line, Shown extends L, Kind extends string, Tone extends string>
  implements vscode.Disposable
{
  private types: MarkTypes<Kind, Tone>;
  private readonly known = new Map<string, Known<L, Shown, Tone>>();
  private readonly shown = new Map<string, Marks<Kind, Tone>>();
  private painted = new WeakMap<vscode.TextEditor, Painted>();
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
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.moved(textEditor)),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.scrolled(textEditor)),
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

  protected abstract digest(lines: readonly L[]): Digest<Shown, Tone>;

  protected abstract shape(line: Shown): { kind: Kind; stale: boolean };

  /** The words of those lines that have any. */
  protected abstract texts(
    lines: readonly Shown[],
    cursors: readonly number[],
    inline: InlineMode,
  ): Marks<Kind, Tone>["texts"];

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
    return onLine(this.known.get(uri.toString())?.all ?? [], line);
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
      // The editor has moved its decorations by rules of its own: where they are now is not known.
      for (const editor of editors().filter((it) => it.document === document)) {
        const painted = this.painted.get(editor);
        if (painted !== undefined) {
          const given = new Map([...painted.given.keys()].map((type) => [type, moved]));
          this.painted.set(editor, { spans: [], cursors: "", given });
        }
      }
    }
    // The answer for a large file takes a while to make, to send and to read.
    this.refreshSoon.trigger(known.all.length / 20);
  }

  private moved(editor: vscode.TextEditor): void {
    if (this.painted.get(editor)?.cursors !== cursorsOf(editor).join()) {
      this.paint(editor);
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
    const cursors = cursorsOf(editor);
    const painted: Painted = {
      spans: spansAround(seenIn(editor)),
      cursors: cursors.join(),
      given: this.painted.get(editor)?.given ?? new Map(),
    };
    this.painted.set(editor, painted);
    const known = this.known.get(key);
    const inDocument = <T extends Line>(lines: readonly T[]) => lines.filter(({ line }) => line < document.lineCount);
    const near = known === undefined || mode === "off" ? [] : inDocument(within(known.shapes, painted.spans));
    const spoken = known === undefined ? [] : [...known.best, ...cursors.flatMap((line) => onLine(known.shapes, line))];
    const once = [...new Map(spoken.map((it) => [it.line, it])).values()];
    const marks = {
      shapes: near.map((it) => ({ line: it.line, ...this.shape(it) })),
      texts: this.texts(inDocument(once), cursors, settings.get<InlineMode>("inlineText", "currentAndBest")),
      ruler: settings.get<boolean>("overviewRuler", true) ? inDocument(known?.ruler ?? []) : [],
    };
    this.decorate(editor, marks, mode, painted.given);
    this.shown.set(key, marks);
    didShow();
  }

  private decorate(
    editor: vscode.TextEditor,
    marks: Marks<Kind, Tone>,
    mode: GutterMode,
    given: Painted["given"],
  ): void {
    const { document } = editor;
    const give = <T extends Line>(
      type: vscode.TextEditorDecorationType,
      lines: readonly T[],
      options: (mark: T) => vscode.DecorationOptions,
    ) => {
      const text = lines.length === 0 ? "" : JSON.stringify(lines);
      if ((given.get(type) ?? "") !== text) {
        given.set(type, text);
        editor.setDecorations(type, lines.map(options));
      }
    };
    const place = mode === "inline" ? (line: number) => endOfLine(document, line) : startOfLine;
    for (const { kind, stale, type } of this.types.shapes(mode)) {
      const marked = marks.shapes.filter((mark) => mark.kind === kind && mark.stale === stale);
      give(type, marked, ({ line }) => ({ range: place(line) }));
    }
    for (const [tone, type] of this.types.texts) {
      const texts = marks.texts.filter((text) => text.tone === tone);
      give(type, texts, ({ line, text }) => ({
        range: endOfLine(document, line),
        renderOptions: { after: { contentText: text } },
      }));
    }
    for (const [tone, type] of this.types.rulers) {
      const bars = marks.ruler.filter((bar) => bar.tone === tone);
      give(type, bars, ({ line }) => ({ range: startOfLine(line) }));
    }
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

function byLine(a: Line, b: Line): number {
  return a.line - b.line;
}

function cursorsOf(editor: vscode.TextEditor): number[] {
  return [...new Set(editor.selections.map((selection) => selection.active.line))];
}

/** What is on the screen; around the cursor while the editor does not know yet. */
function seenIn(editor: vscode.TextEditor): Span[] {
  const seen = editor.visibleRanges.map(({ start, end }) => ({ first: start.line, last: end.line }));
  const { line } = editor.selection.active;
  return seen.length > 0 ? seen : [{ first: line, last: line }];
}

function startOfLine(line: number): vscode.Range {
  return new vscode.Range(line, 0, line, 0);
}

function endOfLine(document: vscode.TextDocument, line: number): vscode.Range {
  const { end } = document.lineAt(line).range;
  return new vscode.Range(end, end);
}
