/** What the Navigator has open. Editor and engine are small stand-ins. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Engine } from "../../extension/features/editor/engine";
import { Navigation } from "../../extension/features/navigator/navigation";
import { opened, view } from "./makeNavigator";

const editor = vi.hoisted(() => ({
  errors: [] as string[],
  names: ["default"],
  configured: (_: { affectsConfiguration: (section: string) => boolean }): void => undefined,
}));

vi.mock("vscode", () => {
  class EventEmitter {
    private readonly listeners: (() => void)[] = [];
    readonly event = (listener: () => void) => this.listeners.push(listener);
    fire = () => {
      for (const listener of this.listeners) {
        listener();
      }
    };
    dispose = () => undefined;
  }
  class CancellationTokenSource {
    readonly token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
    cancel = () => {
      this.token.isCancellationRequested = true;
    };
    dispose = () => undefined;
  }
  return {
    EventEmitter,
    CancellationTokenSource,
    Uri: { file: (path: string) => path },
    ConfigurationTarget: {},
    commands: { executeCommand: async () => undefined },
    window: { showErrorMessage: async (text: string) => void editor.errors.push(text) },
    workspace: {
      getConfiguration: () => ({ get: () => editor.names }),
      getWorkspaceFolder: () => undefined,
      onDidChangeConfiguration: (listener: typeof editor.configured) => {
        editor.configured = listener;
        return { dispose: () => undefined };
      },
    },
  };
});

const path = [
  { name: "a", base: 0, cum: 0 },
  { name: "b", base: 0, cum: 0 },
];
let memory: Map<string, unknown>;
let asked: [method: string, params: Record<string, unknown>][];
let there: boolean;
/** Runs before the engine answers. */
let meanwhile: (method: string, params: Record<string, unknown>) => Promise<void> | undefined;
/** The engine restarts. */
let restarted: () => void;

/** The engine applies commands, as far as they change the view settings. */
function start(): Navigation {
  let now = view();
  const command = (it: Record<string, unknown>) => {
    now = { ...now, revision: now.revision + 1 };
    switch (it.kind) {
      case "value":
        now = { ...now, value: String(it.name) };
        break;
      case "setZoom":
        now = { ...now, zoom: it.on === true };
        break;
      case "selectPath":
        now = view({ ...now, current: { frames: path, labels: [] } as never });
        break;
    }
    return now;
  };
  const request = async ({ method }: { method: string }, params: Record<string, unknown>) => {
    asked.push([method, params]);
    await meanwhile(method, params);
    if (method === "fulcrum/navigator/open" && !there) {
      throw new Error("no such file");
    }
    if (method === "fulcrum/navigator/open") {
      now = view();
      return opened();
    }
    return method === "fulcrum/navigator/command" ? command(params.command as Record<string, unknown>) : null;
  };
  const log = { info: () => undefined, warn: () => undefined, debug: () => undefined, error: () => undefined };
  const onDidRestart = (listener: () => void) => {
    restarted = listener;
    return { dispose: () => undefined };
  };
  const engine = { log, request, long: request, onDidRestart };
  const kept = {
    get: (key: string) => memory.get(key),
    update: async (key: string, value: unknown) => void memory.set(key, value && JSON.parse(JSON.stringify(value))),
  };
  return new Navigation(engine as unknown as Engine, kept as never);
}

const opens = () => asked.filter(([method]) => method === "fulcrum/navigator/open").map(([, params]) => params.files);
const commands = () =>
  asked.filter(([method]) => method === "fulcrum/navigator/command").map(([, params]) => params.command);

beforeEach(() => {
  [memory, asked, there, meanwhile] = [new Map(), [], true, async () => undefined];
  [editor.errors, editor.names] = [[], ["default"]];
});

// A message may come later than its cause.
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  expect(editor.errors).toEqual([]);
});

describe("a window that is reloaded", () => {
  const looked = async () => {
    const before = start();
    await before.openSource({ files: ["/p/a.folded"], against: [] });
    await before.do({ kind: "setZoom", on: !view().zoom });
    await before.do({ kind: "selectPath", path: ["a", "b"] });
    asked = [];
    return before;
  };

  test("reopens the profile with its view settings, which does not count as opened by the user", async () => {
    await looked();
    const after = start();
    expect(await after.restore()).toBe(true);
    expect(asked[0]?.[1]).toMatchObject({ files: ["/p/a.folded"], against: [] });
    expect(commands()).toEqual([
      { kind: "setZoom", on: !view().zoom },
      { kind: "selectPath", path: ["a", "b"] },
    ]);
    expect(after.open?.view.current?.frames).toEqual(path);
    expect(after.opens).toBe(0);
    // The view may be created again, but the profile is opened once.
    asked = [];
    await after.restore();
    expect(asked).toEqual([]);
  });

  test("does not reopen a closed profile", async () => {
    await (await looked()).close();
    const after = start();
    expect(await after.restore()).toBe(false);
    expect(after.state.kind).toBe("empty");
    expect(after.remembered?.files).toEqual(["/p/a.folded"]);
  });

  test("does not replace a profile that was opened since", async () => {
    await looked();
    const after = start();
    await after.openSource({ files: ["/p/other.folded"], against: [] });
    expect(await after.restore()).toBe(false);
    expect(after.remembered?.files).toEqual(["/p/other.folded"]);
  });

  test("says in the view that a profile is gone, and requests it once", async () => {
    await looked();
    there = false;
    const after = start();
    expect(await after.restore()).toBe(false);
    expect(after.state).toMatchObject({ kind: "trouble", title: "a.folded" });
    expect(await start().restore()).toBe(false);
    expect(asked.length).toBe(1);
  });

  test("reopens a profile that was still opening when the window closed", async () => {
    await looked();
    const left = start();
    const restored = left.restore();
    left.dispose();
    await restored;
    expect(await start().restore()).toBe(true);
  });

  test("does not reopen a part of a trace, which is not a file", async () => {
    const before = await looked();
    await before.openSource({ files: [], against: [], derived: { title: "part", open: async () => opened() } });
    expect(await start().restore()).toBe(false);
  });
});

test("new name rules reopen the files, without the selected paths", async () => {
  const navigation = start();
  await navigation.openSource({ files: ["/p/a.folded"], against: [] });
  await navigation.do({ kind: "selectPath", path: ["a", "b"] });
  const { source } = navigation.open ?? {};
  asked = [];
  editor.configured({ affectsConfiguration: (section) => section === "fulcrum.gutter" });
  expect(asked).toEqual([]);
  editor.names = ["default", "source-line"];
  editor.configured({ affectsConfiguration: (section) => section === "fulcrum.profile.names" });
  await vi.waitFor(() => expect(commands()).toEqual([{ kind: "suggest" }]));
  expect(asked[0]?.[1].names).toBe("default,source-line");
  expect(navigation.open?.source).not.toBe(source);
  expect(navigation.open?.source).toEqual(source);
});

describe("while a profile is being opened", () => {
  const [a, b] = [
    { files: ["/p/a.folded"], against: [] },
    { files: ["/p/b.folded"], against: [] },
  ];
  const during = (act: (navigation: Navigation) => void) => {
    const navigation = start();
    const begin = navigation.openSource(a);
    return begin.then(async () => {
      asked = [];
      meanwhile = async (method) => {
        if (method === "fulcrum/navigator/open") {
          meanwhile = async () => undefined;
          act(navigation);
        }
      };
      await navigation.openSource(b);
      return navigation;
    });
  };

  test("after a restart nothing of the old engine is closed, because its ids mean something else now", async () => {
    const navigation = await during(() => restarted());
    expect(navigation.open?.source).toEqual(b);
    expect(asked.map(([method]) => method)).not.toContain("fulcrum/navigator/close");
    // Without a restart, the profile from before is closed.
    const other = await during(() => undefined);
    expect(other.open?.source).toEqual(b);
    expect(asked.map(([method]) => method)).toContain("fulcrum/navigator/close");
  });

  test("a cancelled opening after a restart reopens the profile from before", async () => {
    const navigation = await during((it) => {
      restarted();
      it.cancel();
      throw new Error("it was cancelled");
    });
    await vi.waitFor(() => expect(navigation.open?.source).toEqual(a));
    expect(opens()).toEqual([b.files, a.files]);
  });

  test("new name rules are not lost", async () => {
    const navigation = await during(() => {
      editor.names = ["none"];
      editor.configured({ affectsConfiguration: () => true });
    });
    expect(asked.filter(([method]) => method.endsWith("/open")).map(([, params]) => params.names)).toEqual([
      "default",
      "none",
    ]);
    expect(navigation.open?.source).toEqual(b);
    // A change to other settings opens nothing.
    asked = [];
    editor.configured({ affectsConfiguration: () => true });
    expect(asked).toEqual([]);
  });

  test("keys wait until the view settings are restored; what cannot be restored is not reported", async () => {
    const left = start();
    await left.openSource(a);
    await left.do({ kind: "selectPath", path: ["a", "b"] });
    await left.do({ kind: "setZoom", on: !view().zoom });
    asked = [];
    const navigation = start();
    let key: Promise<boolean> | undefined;
    navigation.onDidChange(() => {
      if (navigation.open !== undefined) {
        key ??= Promise.resolve().then(() => navigation.do({ kind: "back" }));
      }
    });
    meanwhile = async (_, { command }) => {
      if ((command as { kind?: string } | undefined)?.kind === "selectPath") {
        throw new Error("no such path");
      }
    };
    expect(await navigation.restore()).toBe(true);
    await key;
    expect(commands()).toEqual([
      { kind: "setZoom", on: !view().zoom },
      { kind: "selectPath", path: ["a", "b"] },
      { kind: "back" },
    ]);
  });
});
