/** What the Navigator shows after each event. */
import { describe, expect, test } from "vitest";
import {
  commandsTo,
  contextKeys,
  type Navigated,
  type NavigationEvent,
  navigatorShown,
  nothingOpen,
  openIn,
  reduce,
  settingsOf,
  settingsToKeep,
  titleOf,
} from "../../extension/core/navigator/navigationState";
import { current, opened, view } from "./makeNavigator";

const a = { files: ["/p/a.folded"], against: [] };
const b = { files: ["/p/b.folded"], against: [] };
const origin = { engine: 0, rules: null };
const profileA = opened({ id: 1 });
const profileB = opened({ id: 2 });

function following(events: readonly NavigationEvent[], from: Navigated = nothingOpen): Navigated {
  return events.reduce(reduce, from);
}

/** `a` is open, with its view settings restored. */
const withA = following([
  { type: "open", source: a, by: "user" },
  { type: "opened", attempt: 1, source: a, opened: profileA, origin },
  { type: "restored", opened: profileA },
  { type: "ended", attempt: 1 },
]);
const openingB = reduce(withA, { type: "open", source: b, by: "user" });

describe("opening", () => {
  test("shows the progress, and then the profile", () => {
    expect(openingB.state).toEqual({ kind: "opening", title: "b.folded", message: "", fraction: null });
    const half = reduce(openingB, { type: "progress", attempt: 2, message: "reading", fraction: 0.5 });
    expect(half.state).toMatchObject({ message: "reading", fraction: 0.5 });
    const open = reduce(half, { type: "opened", attempt: 2, source: b, opened: profileB, origin });
    expect(openIn(open)?.opened).toBe(profileB);
    expect([open.before, open.opens]).toEqual([undefined, 2]);
  });

  test("only the last attempt counts", () => {
    const again = reduce(openingB, { type: "open", source: a, by: "itself" });
    const late: NavigationEvent[] = [
      { type: "progress", attempt: 2, message: "late", fraction: 1 },
      { type: "opened", attempt: 2, source: b, opened: profileB, origin },
      { type: "failed", attempt: 2, title: "b.folded", text: "late" },
      { type: "ended", attempt: 2 },
    ];
    expect(following(late, again)).toEqual(again);
    expect([again.attempt, again.opens]).toEqual([3, 2]);
  });

  test("on failure shows what was open before, or else the reason", () => {
    const failed = (from: Navigated, text: string | null) =>
      reduce(from, { type: "failed", attempt: from.attempts, title: "b.folded", text }).state;
    expect(failed(openingB, "no such file")).toBe(withA.state);
    expect(failed(openingB, null)).toBe(withA.state);
    const alone = reduce(nothingOpen, { type: "open", source: b, by: "user" });
    expect(failed(alone, "no such file")).toEqual({ kind: "trouble", title: "b.folded", text: "no such file" });
    expect(failed(alone, null)).toEqual({ kind: "empty" });
    // A restarted engine has nothing open.
    expect(failed(reduce(openingB, { type: "engineRestarted" }), null)).toEqual({ kind: "empty" });
  });
});

test("an answer belongs to the profile that is open, and never replaces a later one", () => {
  const later = reduce(withA, { type: "view", id: 1, view: view({ revision: 5 }) });
  expect(openIn(later)?.view.revision).toBe(5);
  expect(reduce(later, { type: "view", id: 1, view: view({ revision: 4 }) })).toBe(later);
  expect(reduce(later, { type: "view", id: 2, view: view({ revision: 6 }) })).toBe(later);
});

test("closing leaves nothing to go back to; closing the window does not change what is shown", () => {
  const closed = reduce(openingB, { type: "closed" });
  expect([closed.state, closed.before, closed.source]).toEqual([{ kind: "empty" }, undefined, undefined]);
  const left = reduce(openingB, { type: "left" });
  expect([left.state, left.attempt]).toEqual([openingB.state, undefined]);
});

describe("view settings", () => {
  const path = [{ name: "a", recorded: null }];
  const looked = view({ zoom: true, current: current({ frames: path }) });

  test("are saved once they are restored, and only for files", () => {
    const restoring = following([{ type: "opened", attempt: 2, source: b, opened: profileB, origin }], openingB);
    expect(settingsToKeep(restoring)).toBeUndefined();
    expect(settingsToKeep(reduce(restoring, { type: "restored", opened: profileB }))?.settings).toEqual(
      settingsOf(profileB.view),
    );
    const derived = { files: [], against: [], derived: { title: "part", open: async () => profileA } };
    const part = following([
      { type: "open", source: derived, by: "user" },
      { type: "opened", attempt: 1, source: derived, opened: profileA, origin },
      { type: "restored", opened: profileA },
    ]);
    expect(settingsToKeep(part)).toEqual({ settings: undefined });
    expect(part.source).toBeUndefined();
  });

  test("are restored by the commands that change them", () => {
    const settings = settingsOf(looked);
    expect(settings.path).toEqual(["a"]);
    const commands = (now = view()) => commandsTo(settings).map((it) => (typeof it === "function" ? it(now) : it));
    expect(commands().filter((it) => it !== undefined)).toEqual([
      { kind: "setZoom", on: true },
      { kind: "selectPath", path: ["a"] },
    ]);
    expect(commandsTo(undefined)).toEqual([{ kind: "suggest" }]);
    expect(commandsTo({ ...settings, path: null }).at(-1)).toEqual({ kind: "suggest" });
  });
});

test("menus and keys know which commands apply", () => {
  expect(Object.values(contextKeys({ kind: "empty" }))).not.toContain(true);
  const keys = contextKeys(withA.state);
  expect(keys).toMatchObject({ "fulcrum.navigating": true, "fulcrum.navigator.tree": true });
  expect(keys).toMatchObject({ "fulcrum.navigator.file": true, "fulcrum.navigator.path": false });
});

test("the page offers to reopen the last profile", () => {
  expect(navigatorShown({ kind: "empty" }, a)).toEqual({ kind: "empty", again: "a.folded" });
  expect(navigatorShown({ kind: "empty" }, undefined)).toEqual({ kind: "empty", again: null });
  expect(navigatorShown({ kind: "trouble", title: "x", text: "y" }, a)).toMatchObject({ again: true });
  expect(navigatorShown(openingB.state, a)).toBe(openingB.state);
  const shown = navigatorShown(withA.state, undefined);
  expect(shown.kind === "open" && shown.model.title).toBe("figure2.folded");
});

test("a comparison's title names both sides", () => {
  expect(titleOf({ files: ["/p/a", "/p/b"], against: ["/p/c"] })).toBe("2 files − c");
  expect(titleOf(a)).toBe("a.folded");
});
