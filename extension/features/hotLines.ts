/** The Navigator's profile beside the code: bars in the gutter, words at the end of lines, marks in the overview ruler. */
import * as vscode from "vscode";
import { Debounced } from "../core/debounce";
import { heatDataUri, heats, hottestOfEachLine } from "../core/hotLines";
import { bestLines, type InlineMode } from "../core/inline";
import type { NavigatorHeat, NavigatorLine } from "../core/protocol";
import { gutterSize, inlineSize, type ThemeKind } from "../core/shapes";
import { shiftLines } from "../core/shift";
import type { Engine } from "./engine";
import { type GutterMode, themePair } from "./gutter";
import type { GutterChoice } from "./gutterChoice";
import type { Navigation } from "./navigation";

type Hot = Exclude<NavigatorHeat, "cold">;

/** What a test can see of one editor. */
export interface ShownHotLines {
  shapes: { line: number; heat: Hot; stale: boolean }[];
  texts: { line: number; text: string }[];
}

export class HotLines implements vscode.Disposable {
  private types = new HeatTypes();
  private readonly lines = new Map<string, readonly NavigatorLine[]>();
  private readonly shown = new Map<string, ShownHotLines>();
  private readonly refreshSoon = new Debounced(() => void this.refresh(), 200);
  private readonly subscriptions: vscode.Disposable[];
  private round = 0;
  /** Lines depend on these only; a step of the search changes none of them. */
  private seen = "";

  constructor(
    private readonly engine: Engine,
    private readonly navigation: Navigation,
    private readonly choice: GutterChoice,
  ) {
    this.subscriptions = [
      this.refreshSoon,
      choice.onDidChange(() => void this.refresh()),
      navigation.onDidChange(() => this.follow()),
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

  decorations(uri: vscode.Uri): ShownHotLines | undefined {
    return this.shown.get(uri.toString());
  }

  dispose(): void {
    this.types.dispose();
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  private follow(): void {
    const open = this.navigation.open;
    const now = open === undefined ? "" : `${open.opened.id} ${open.view.value}`;
    if (now !== this.seen) {
      this.seen = now;
      void this.refresh();
    }
  }

  private async refresh(): Promise<void> {
    this.round += 1;
    const round = this.round;
    const open = this.navigation.open;
    if (open === undefined || this.choice.source !== "profile") {
      this.lines.clear();
      this.paintAll();
      return;
    }
    const documents = new Set(this.editors().map((editor) => editor.document));
    await Promise.all(
      [...documents].map(async (document) => {
        const uri = document.uri.toString();
        const version = document.version;
        try {
          const { lines } = await this.engine.request("fulcrum/navigator/lines", { id: open.opened.id, uri });
          if (round === this.round && version === document.version) {
            this.lines.set(uri, lines);
          }
        } catch (error) {
          this.engine.log.debug(`No hot lines for ${uri}: ${error}`);
        }
      }),
    );
    if (round === this.round) {
      this.paintAll();
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
    this.types = new HeatTypes();
    this.paintAll();
  }

  private editors(): readonly vscode.TextEditor[] {
    return vscode.window.visibleTextEditors.filter((editor) => editor.document.uri.scheme === "file");
  }

  private paintAll(): void {
    this.shown.clear();
    this.editors().forEach((editor) => {
      this.paint(editor);
    });
  }

  private paint(editor: vscode.TextEditor): void {
    const key = editor.document.uri.toString();
    if (editor.document.uri.scheme !== "file") {
      return;
    }
    const settings = vscode.workspace.getConfiguration("fulcrum", editor.document);
    const mode = settings.get<GutterMode>("gutter", "gutter");
    const { lineCount } = editor.document;
    const known = hottestOfEachLine(this.lines.get(key) ?? []).filter((line) => line.line < lineCount);
    const marks = mode === "off" ? [] : known;
    for (const [heat, stale, type] of this.types.shapes(mode)) {
      const ranges = marks
        .filter((line) => line.heat === heat && (line.state === "stale") === stale)
        .map(({ line }) => (mode === "inline" ? endOfLine(editor, line) : new vscode.Range(line, 0, line, 0)));
      editor.setDecorations(type, ranges);
    }
    const texts = this.texts(editor, known, settings.get<InlineMode>("inlineText", "currentAndBest"));
    editor.setDecorations(
      this.types.text,
      texts.map(({ line, text }) => ({
        range: endOfLine(editor, line),
        renderOptions: { after: { contentText: text } },
      })),
    );
    const ruler = settings.get<boolean>("overviewRuler", true) ? hottest(known) : [];
    editor.setDecorations(
      this.types.ruler,
      ruler.map(({ line }) => new vscode.Range(line, 0, line, 0)),
    );
    this.shown.set(key, {
      shapes: marks.map((line) => ({ line: line.line, heat: line.heat, stale: line.state === "stale" })),
      texts,
    });
  }

  private texts(
    editor: vscode.TextEditor,
    lines: readonly NavigatorLine[],
    mode: InlineMode,
  ): { line: number; text: string }[] {
    if (mode === "off") {
      return [];
    }
    const cursors = new Set(editor.selections.map((selection) => selection.active.line));
    const best = new Set(mode === "currentAndBest" ? hottest(lines) : []);
    return lines
      .filter((line) => cursors.has(line.line) || best.has(line))
      .map((line) => ({
        line: line.line,
        text: line.state === "stale" ? `${line.text} (changed since)` : line.text,
      }));
  }
}

/** Made once and shared by all lines: a type is a CSS rule. */
class HeatTypes implements vscode.Disposable {
  readonly text: vscode.TextEditorDecorationType;
  readonly ruler: vscode.TextEditorDecorationType;
  private readonly byMode = new Map<GutterMode, [Hot, boolean, vscode.TextEditorDecorationType][]>();
  private readonly all: vscode.TextEditorDecorationType[] = [];

  constructor() {
    const rangeBehavior = vscode.DecorationRangeBehavior.ClosedOpen;
    const color = new vscode.ThemeColor("fulcrum.hotForeground");
    this.text = this.create({ after: { color, margin: "0 0 0 2.5em", fontStyle: "italic" }, rangeBehavior });
    this.ruler = this.create({
      overviewRulerColor: new vscode.ThemeColor("fulcrum.overviewRulerHot"),
      overviewRulerLane: vscode.OverviewRulerLane.Right,
    });
  }

  shapes(mode: GutterMode): readonly [Hot, boolean, vscode.TextEditorDecorationType][] {
    let types = this.byMode.get(mode);
    if (types === undefined) {
      const each = (heat: Hot) =>
        [false, true].map((stale): [Hot, boolean, vscode.TextEditorDecorationType] => [
          heat,
          stale,
          this.shape(mode, heat, stale),
        ]);
      types = mode === "off" ? [] : heats.flatMap(each);
      this.byMode.set(mode, types);
    }
    return types;
  }

  dispose(): void {
    for (const type of this.all) {
      type.dispose();
    }
  }

  private shape(mode: GutterMode, heat: Hot, stale: boolean): vscode.TextEditorDecorationType {
    const [light, dark] = themePair();
    const size = mode === "gutter" ? gutterSize : inlineSize;
    const icon = (theme: ThemeKind) => vscode.Uri.parse(heatDataUri(heat, theme, stale, size), true);
    const looks = (theme: ThemeKind): vscode.ThemableDecorationRenderOptions =>
      mode === "gutter"
        ? { gutterIconPath: icon(theme), gutterIconSize: "contain" }
        : { before: { contentIconPath: icon(theme), margin: "0 -1.5em 0 2em" } };
    const rangeBehavior = vscode.DecorationRangeBehavior.ClosedOpen;
    return this.create({ light: looks(light), dark: looks(dark), rangeBehavior });
  }

  private create(options: vscode.DecorationRenderOptions): vscode.TextEditorDecorationType {
    const type = vscode.window.createTextEditorDecorationType(options);
    this.all.push(type);
    return type;
  }
}

function hottest<T extends NavigatorLine>(lines: readonly T[]): T[] {
  const cost = (line: T) => Math.max(Math.abs(line.baseShare), Math.abs(line.cumShare) / 10);
  return [...lines]
    .filter((line) => line.state !== "stale")
    .sort((a, b) => cost(b) - cost(a))
    .slice(0, bestLines);
}

function endOfLine(editor: vscode.TextEditor, line: number): vscode.Range {
  const { end } = editor.document.lineAt(line).range;
  return new vscode.Range(end, end);
}
