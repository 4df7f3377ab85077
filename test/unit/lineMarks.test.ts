/** What marks cost while the user types in a large file: what is sent to the editor, and how often. */
import { beforeEach, expect, test, vi } from "vitest";
import type { LineShape, LineSpeedup } from "../../extension/core/engine/protocol";
import type { Marks } from "../../extension/core/marks";
import { onDidShow } from "../../extension/core/shown";
import type { CausalResults } from "../../extension/features/causal/causalResults";
import type { Engine } from "../../extension/features/editor/engine";
import { Gutter } from "../../extension/features/marks/gutter";
import type { GutterChoice } from "../../extension/features/marks/gutterChoice";

const count = 22_000;

const host = vi.hoisted(() => {
  const listeners: Record<string, (event: unknown) => void> = {};
  const on = (name: string) => (listener: (event: unknown) => void) => {
    listeners[name] = listener;
    return { dispose: () => undefined };
  };
  return { listeners, on, editor: undefined as unknown, types: 0 };
});

vi.mock("vscode", () => {
  class Range {
    constructor(
      readonly from: number,
      _a: number,
      readonly to: number,
      _b: number,
    ) {}
  }
  return {
    Range,
    ThemeColor: class {},
    Uri: { parse: (text: string) => text },
    ColorThemeKind: { HighContrast: 3, HighContrastLight: 4 },
    DecorationRangeBehavior: {},
    OverviewRulerLane: {},
    window: {
      get visibleTextEditors() {
        return [host.editor];
      },
      activeColorTheme: { kind: 2 },
      createTextEditorDecorationType: () => {
        host.types += 1;
        return { dispose: () => undefined };
      },
      onDidChangeVisibleTextEditors: host.on("editors"),
      onDidChangeTextEditorSelection: host.on("selection"),
      onDidChangeTextEditorVisibleRanges: host.on("scroll"),
      onDidChangeActiveColorTheme: host.on("theme"),
    },
    workspace: {
      getConfiguration: () => ({ get: (_: string, value?: unknown) => value }),
      onDidChangeTextDocument: host.on("text"),
      onDidChangeConfiguration: host.on("configuration"),
    },
  };
});

const document = {
  uri: { scheme: "file", toString: () => "file:///w/large.cpp" },
  version: 1,
  lineCount: count,
  lineAt: (line: number) => ({ range: { end: { line } } }),
};

/** How many ranges each call set. */
let given: number[] = [];
const editor = {
  document,
  selection: { active: { line: 100 } },
  selections: [{ active: { line: 100 } }],
  visibleRanges: [{ start: { line: 90 }, end: { line: 130 } }],
  setDecorations: (_: unknown, ranges: unknown[]) => void given.push(ranges.length),
};

const shapes: readonly LineShape[] = ["gain2", "flat", "harm1"];
const lines = Array.from({ length: count }, (_, line) => ({
  ...{ line, shape: shapes[line % 3] as LineShape, state: "exact", rank: line + 1, slope: 0.1, text: "+5 %" },
})) as unknown as LineSpeedup[];

function gutter(): Gutter {
  const engine = { state: "running", request: async () => ({ lines }), log: { debug: () => undefined } };
  const nothing = () => ({ dispose: () => undefined });
  const results = { onDidChangeResults: nothing, summary: {}, progressPoint: null };
  const choice = { onDidChange: nothing, source: "causal" };
  return new Gutter(
    engine as unknown as Engine,
    results as unknown as CausalResults,
    choice as unknown as GutterChoice,
  );
}

function type(text: string, line: number): void {
  const range = { start: { line, character: 3 }, end: { line, character: 3 } };
  host.listeners.text?.({ document, contentChanges: [{ range, text }] });
  const now = line + (text.includes("\n") ? 1 : 0);
  editor.selection = { active: { line: now } };
  editor.selections = [editor.selection];
  host.listeners.selection?.({ textEditor: editor });
}

/** What is shown now. */
let shown: Marks | undefined;
onDidShow((it) => {
  if (it.kind === "marks") {
    shown = it.marks;
  }
});

const sum = (all: readonly number[]) => all.reduce((a, b) => a + b, 0);

beforeEach(() => {
  given = [];
  shown = undefined;
  host.types = 0;
  host.editor = editor;
  editor.selection = { active: { line: 100 } };
  editor.selections = [editor.selection];
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

test("only what is near the screen is decorated", async () => {
  const marks = gutter();
  await marks.refresh();
  expect(shown?.shapes.length).toBe(331);
  expect(sum(given)).toBeLessThan(400);
  expect(sum(given)).toBeGreaterThan(300);
});

test("typing letters sends nothing to the editor; a new line sends what is near", async () => {
  const marks = gutter();
  await marks.refresh();
  given = [];
  for (const letter of "while one types") {
    type(letter, 100);
  }
  expect(given).toEqual([]);
  type("\n", 100);
  expect(sum(given)).toBeGreaterThan(300);
  expect(sum(given)).toBeLessThan(400);
  // The mark of line 101 is now on line 102.
  expect(shown?.shapes.map(({ line }) => line)).not.toContain(101);
  expect(shown?.shapes.map(({ line }) => line)).toContain(102);
});

test("the same answer again sends nothing to the editor, nor does scrolling a little", async () => {
  const marks = gutter();
  await marks.refresh();
  given = [];
  await marks.refresh();
  host.listeners.scroll?.({ textEditor: editor });
  expect(given).toEqual([]);
  editor.visibleRanges = [{ start: { line: 9000 }, end: { line: 9040 } }];
  host.listeners.scroll?.({ textEditor: editor });
  expect(shown?.shapes[0]?.line).toBe(8800);
  editor.visibleRanges = [{ start: { line: 90 }, end: { line: 130 } }];
});

test("moving the cursor updates only its own text, and nothing within a line", async () => {
  const marks = gutter();
  await marks.refresh();
  given = [];
  const move = (line: number) => {
    editor.selection = { active: { line } };
    editor.selections = [editor.selection];
    host.listeners.selection?.({ textEditor: editor });
  };
  move(103);
  expect(given).toEqual([1]);
  expect(shown?.texts.at(-1)?.line).toBe(103);
  move(103);
  expect(given).toEqual([1]);
  // Line 104 has another colour: its text appears, and that of line 103 disappears.
  move(104);
  expect(given.sort()).toEqual([0, 1, 1]);
  expect(shown?.texts.filter(({ line }) => line > 99).map(({ line }) => line)).toEqual([104]);
});

test("a decoration type is created when the first mark needs it", async () => {
  const marks = gutter();
  expect(host.types).toBe(0);
  await marks.refresh();
  const { shapes, texts, ruler } = shown ?? { shapes: [], texts: [], ruler: [] };
  const looks = [
    shapes.map((it) => it.kind),
    texts.map((it) => `${it.line > 99} ${it.tone}`),
    ruler.map((it) => it.tone),
  ];
  expect(host.types).toBe(sum(looks.map((all) => new Set<string>(all).size)));
});
