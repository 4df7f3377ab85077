/** The kinds of run folders, for menus: from their files, without the engine. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import type { Engine } from "../../extension/features/editor/engine";
import { publishRunKinds } from "../../extension/features/runs/runKinds";
import { RunStore } from "../../extension/features/runs/runStore";

const editor = vi.hoisted(() => ({
  folder: "",
  contexts: [] as [string, unknown][],
  changed: () => undefined as unknown,
}));

vi.mock("vscode", () => {
  const nothing = () => ({ dispose: () => undefined });
  class EventEmitter {
    private listener: () => unknown = () => undefined;
    event = (listener: () => unknown) => {
      this.listener = listener;
      return nothing();
    };
    fire = () => this.listener();
    dispose = () => undefined;
  }
  return {
    EventEmitter,
    commands: {
      executeCommand: async (_: string, key: string, value: unknown) => void editor.contexts.push([key, value]),
    },
    workspace: {
      get workspaceFolders() {
        return [{ uri: { scheme: "file", fsPath: editor.folder } }];
      },
      createFileSystemWatcher: () => ({
        ...nothing(),
        onDidCreate: (listener: () => unknown) => {
          editor.changed = listener;
          return nothing();
        },
        onDidChange: nothing,
        onDidDelete: nothing,
      }),
      onDidChangeWorkspaceFolders: nothing,
    },
  };
});

const warnings: string[] = [];
const engine = { log: { warn: (text: string) => warnings.push(text) } } as unknown as Engine;

function workspace(runs: Record<string, string>): string {
  editor.folder = mkdtempSync(path.join(tmpdir(), "fulcrum-runs-"));
  write(runs);
  return path.join(editor.folder, ".fulcrum/runs");
}

/** Runs by name, each with one file. */
function write(runs: Record<string, string>): void {
  for (const [name, file] of Object.entries(runs)) {
    const run = path.join(editor.folder, ".fulcrum/runs", name);
    mkdirSync(run, { recursive: true });
    writeFileSync(path.join(run, file), "");
  }
}

afterEach(() => {
  rmSync(editor.folder, { recursive: true, force: true });
  editor.contexts.length = 0;
  warnings.length = 0;
});

const told = () => Object.fromEntries(editor.contexts);

test("a run folder's kind comes from its files, and new runs are added", async () => {
  const folder = workspace({ "x-causal": "causal-1-0.jsonl", "x-java": "events-1.log", "x-server": "1-0.txlog" });
  write({ "x-begun": "run.json" });
  publishRunKinds(engine, new RunStore(engine));
  const of = (...names: string[]) => names.map((name) => path.join(folder, name));
  await vi.waitFor(() =>
    expect(told()).toEqual({
      "fulcrum.causalRuns": of("x-causal"),
      "fulcrum.traceRuns": of("x-java"),
      "fulcrum.transactionRuns": of("x-server"),
    }),
  );
  write({ "y-java": "events-2.log" });
  editor.changed();
  await vi.waitFor(() => expect(told()).toMatchObject({ "fulcrum.traceRuns": of("x-java", "y-java") }));
});

test("a workspace without runs has none, and reports no error", async () => {
  workspace({});
  publishRunKinds(engine, new RunStore(engine));
  await vi.waitFor(() =>
    expect(told()).toEqual({ "fulcrum.causalRuns": [], "fulcrum.traceRuns": [], "fulcrum.transactionRuns": [] }),
  );
  expect(warnings).toEqual([]);
});
