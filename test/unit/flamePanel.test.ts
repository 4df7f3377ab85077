/** What the flame graph's panel sends to its page. Editor and engine are small stand-ins. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { NavigatorFlameParams } from "../../extension/core/engine/protocol";
import type { FromFlame, Need, ToFlame } from "../../extension/core/flame/messages";
import type { NavigationState } from "../../extension/core/navigator/navigationState";
import type { Remember } from "../../extension/core/page";
import type { Engine } from "../../extension/features/editor/engine";
import { FlameGraphPanel } from "../../extension/features/navigator/flameGraph";
import type { Navigation } from "../../extension/features/navigator/navigation";
import { flame, opened, view } from "./makeNavigator";

const editor = vi.hoisted(() => ({
  commands: new Map<string, () => unknown>(),
  posted: [] as ToFlame[],
  kept: undefined as unknown,
  receive: (_: FromFlame): unknown => undefined,
  gone: () => undefined as unknown,
  errors: [] as string[],
  revive: async (_panel: unknown, _kept: unknown): Promise<void> => undefined,
}));

const panel = vi.hoisted(() => () => ({
  reveal: () => undefined,
  dispose: () => undefined,
  onDidDispose: (listener: () => unknown) => {
    editor.gone = listener;
  },
  webview: {
    asWebviewUri: () => "uri",
    onDidReceiveMessage: (listener: (message: FromFlame) => unknown) => {
      editor.receive = listener;
      return { dispose: () => undefined };
    },
    postMessage: async (message: ToFlame | Remember) => {
      if (message.type === "remember") {
        editor.kept = message.state;
        return true;
      }
      return editor.posted.push(message) > 0;
    },
  },
}));

vi.mock("vscode", () => ({
  ViewColumn: { Active: -1 },
  Uri: { joinPath: () => "uri" },
  commands: {
    registerCommand: (name: string, run: () => unknown) => {
      editor.commands.set(name, run);
      return { dispose: () => undefined };
    },
    executeCommand: async (name: string) => {
      throw new Error(`no command ${name}`);
    },
  },
  window: {
    showErrorMessage: async (text: string) => void editor.errors.push(text),
    createWebviewPanel: panel,
    registerWebviewPanelSerializer: (_: string, serializer: { deserializeWebviewPanel: typeof editor.revive }) => {
      editor.revive = serializer.deserializeWebviewPanel;
      return { dispose: () => undefined };
    },
  },
}));

const source = { files: ["a.folded"], against: [] };
const origin = { engine: 0, rules: null };
const open = { kind: "open", opened: opened(), view: view(), source, origin } as const satisfies NavigationState;
const labelled = view({ labels: [{ name: "hot", paths: [["c"]], base: 15, cum: 97, marginal: 97 }] });
const need: Need = { section: "tree", range: { left: 0, right: 1 }, minimum: 0.001, depths: 300 };

let state: NavigationState;
let restorable: NavigationState;
let changed: () => void;
let answer: (params: NavigatorFlameParams) => Promise<unknown>;

const answered = async (params: NavigatorFlameParams) => {
  const from = params.fromDepth ?? 0;
  const rows = Math.max(0, Math.min(params.depths ?? 200, 1000, 2500 - from));
  const boxes = flame(Array.from({ length: rows }, (_, n) => [from + n, 0, 1, `f${from + n}`] as const));
  return {
    ...boxes,
    label: boxes.depth.map(() => -1),
    labels: [],
    total: 1000,
    sides: null,
    levels: 2500,
  };
};

function become(next: NavigationState): void {
  state = next;
  changed();
}

function last<K extends ToFlame["type"]>(type: K): Extract<ToFlame, { type: K }> | undefined {
  return editor.posted.findLast((it): it is Extract<ToFlame, { type: K }> => it.type === type);
}

const generation = () => last("show")?.shown.generation ?? -1;
const ask = (asked: Need) => editor.receive({ type: "need", generation: generation(), need: asked });

beforeEach(async () => {
  [editor.posted, editor.errors, state, answer, restorable] = [[], [], open, answered, open];
  const navigation = {
    get state() {
      return state;
    },
    get open() {
      return state.kind === "open" ? state : undefined;
    },
    onDidChange: (listener: () => void) => {
      changed = listener;
      return { dispose: () => undefined };
    },
    do: async () => true,
    restore: async () => {
      become(restorable);
      return restorable.kind === "open";
    },
  };
  const log = { warn: () => undefined, debug: () => undefined, error: () => undefined };
  const engine = { log, request: (_: string, params: NavigatorFlameParams) => answer(params) };
  new FlameGraphPanel(engine as unknown as Engine, navigation as unknown as Navigation, "uri" as never);
  await editor.commands.get("fulcrum.navigator.flameGraph")?.();
  await editor.receive({ type: "ready" });
});

describe("layout", () => {
  test("stays the same for labels and a repeated key; a new path, width, value or profile changes it", async () => {
    const layouts = [last("show")?.shown.layout];
    const next = () => layouts.push(last("show")?.shown.layout);
    become({ ...open, view: labelled });
    expect(last("show")?.shown.labels).toEqual(["hot"]);
    next();
    await editor.commands.get("fulcrum.navigator.flameGraph")?.();
    next();
    expect(new Set(layouts).size).toBe(1);
    await editor.receive({ type: "merge", path: ["a"] });
    next();
    await editor.receive({ type: "width", width: "b" });
    next();
    become({ ...open, view: view({ value: "bytes" }) });
    next();
    become({ ...open, source: { ...source } });
    next();
    expect(last("show")?.shown.path).toBeNull();
    expect(new Set(layouts).size).toBe(5);
  });

  test("stays the same after an engine restart, which renumbers the profile", () => {
    const before = last("show")?.shown;
    become({ kind: "empty" });
    expect(last("nothing")?.text).toContain("closed");
    become({ kind: "opening", title: "", message: "", fraction: null });
    become({ ...open, opened: opened({ id: 7 }) });
    const after = last("show")?.shown;
    expect(after?.layout).toBe(before?.layout);
    expect(after?.generation).toBeGreaterThan(before?.generation ?? 0);
  });
});

describe("requests of the page", () => {
  test("fail while another profile is opening; if that is cancelled, the page may ask again", async () => {
    become({ kind: "opening", title: "", message: "", fraction: null });
    await ask(need);
    expect(last("failed")).toEqual({ type: "failed", generation: generation(), need });
    await editor.receive({ type: "select", path: ["a"] });
    expect(last("trouble")?.text).toContain("being opened");
    editor.posted = editor.posted.filter((it) => it.type === "show");
    become(open);
    expect(last("current")).toBeDefined();
    await ask(need);
    expect(last("tile")?.tile.levels).toBe(2500);
  });

  test("fail with the engine's reason", async () => {
    answer = () => Promise.reject(new Error("no memory"));
    await ask(need);
    expect(last("failed")?.need).toEqual(need);
    expect(last("trouble")?.text).toContain("no memory");
  });

  test("fail silently for a picture that is gone", async () => {
    const before = generation();
    become({ ...open, view: labelled });
    await editor.receive({ type: "need", generation: before, need });
    expect(last("failed")?.generation).toBe(before);
    expect(last("trouble")).toBeUndefined();
  });

  test("get one tile, even if the engine sends its rows in several parts", async () => {
    await ask({ ...need, depths: 2400 });
    const { depth, names, name } = last("tile")?.tile.arrays ?? flame([]);
    expect([depth.length, depth.at(-1), names[name.at(-1) ?? -1]]).toEqual([2400, 2399, "f2399"]);
  });
});

test("get no picture of a closed profile or a call graph, and keys say so", async () => {
  become({ kind: "empty" });
  expect(last("nothing")?.text).toContain("closed");
  await editor.receive({ type: "search", generation: generation(), text: "a" });
  expect(last("trouble")?.text).toContain("closed");
  become({ ...open, opened: opened({ id: 2, kind: "graph" }), source: { ...source } });
  expect(last("nothing")?.text).toContain("without call paths");
});

test("an error in handling the page's message is shown", async () => {
  await editor.receive({ type: "select", path: ["a"] });
  await vi.waitFor(() => expect(editor.errors.join()).toContain("no command fulcrum.navigator.focus"));
});

test("nothing is posted to a page that is gone", async () => {
  const asked = ask(need);
  editor.gone();
  const count = editor.posted.length;
  await asked;
  become({ kind: "empty" });
  expect(editor.posted.length).toBe(count);
});

test("in a merged path, a search says that its figures are for the whole profile", async () => {
  answer = async () => ({ count: 2, names: ["a"], cost: 340, share: 0.34, sides: null });
  const search = () => editor.receive({ type: "search", generation: generation(), text: "a" });
  await search();
  expect(last("found")?.summary.replaceAll("\u00a0", " ")).toBe("2 functions · 34 % (340)");
  answer = async () => ({ count: 1, names: ["a"], cost: -140, share: -1.5, sides: { a: 200, b: 340 } });
  await search();
  expect(last("found")?.summary.replaceAll("\u00a0", " ")).toBe("1 function · A 200 − B 340 = −140 (−150 %)");
  answer = async () => ({ count: 2, names: ["a"], cost: 340, share: 0.34, sides: null });
  await editor.receive({ type: "merge", path: ["a"] });
  await search();
  expect(last("found")?.summary.replaceAll("\u00a0", " ")).toBe("2 functions · 34 % (340) of the whole profile");
});

test("while a profile is opening, the page does not say that it was closed", async () => {
  become({ kind: "empty" });
  become({ kind: "opening", title: "a.folded", message: "", fraction: null });
  expect(last("nothing")?.text).toBe("a.folded is being opened.");
  become({ kind: "trouble", title: "a.folded", text: "It is gone." });
  expect(last("nothing")?.text).toBe("a.folded could not be opened: It is gone.");
});

describe("a window that is reloaded", () => {
  const reload = async () => {
    const { kept } = editor;
    become({ kind: "empty" });
    editor.gone();
    editor.posted = [];
    const revived = editor.revive(panel(), kept);
    await editor.receive({ type: "ready" });
    await revived;
  };

  test("restores the path and the width that were shown", async () => {
    await editor.receive({ type: "merge", path: ["a", "b"] });
    await editor.receive({ type: "width", width: "b" });
    await reload();
    expect(last("show")?.shown).toMatchObject({ path: ["a", "b"], width: "b" });
  });

  test("shows the whole tree of another profile, or says that there is none", async () => {
    await editor.receive({ type: "merge", path: ["a", "b"] });
    restorable = { kind: "empty" };
    await reload();
    expect(last("show")).toBeUndefined();
    expect(last("nothing")?.text).toContain("The next one that is opened is drawn here");
    become({ ...open, source: { ...source } });
    expect(last("show")?.shown.path).toBeNull();
  });
});
