/** A trace's text and geometry. */
import { describe, expect, test } from "vitest";
import type { EventsRow, RefineIteration } from "../../extension/core/engine/protocol";
import { readableOn } from "../../extension/core/themeColours";
import { CallValues } from "../../extension/core/trace/callValues";
import { Chosen } from "../../extension/core/trace/chosen";
import { stateLooks, traceTheme } from "../../extension/core/trace/colours";
import { differenceRow, Pages, traceComparison } from "../../extension/core/trace/compare";
import { methodText, type RefineModel, refineRows, refineSays } from "../../extension/core/trace/refine";
import { cellsOf, eventRow, partOf, spokenOf, titleOf } from "../../extension/core/trace/rows";
import { runName } from "../../extension/core/trace/runs";
import { around, lanes, pan, reveal, ticks, zoom } from "../../extension/core/trace/timeline";
import { contrast, readTheme, themeKinds } from "./makeThemes";

const call: EventsRow = {
  thread: 4,
  node: 17,
  kind: "call",
  name: "dispatcher.ThreadPool.get",
  method: 3,
  object: null,
  startNs: 1_234_567_890,
  wallNs: 17_000,
  cpuNs: 16_000,
  selfWallNs: 12_000,
  selfCpuNs: 11_000,
  probesNs: 80,
  children: 1,
  ended: "returned",
  queue: { number: 87, length: 4, waitNs: 749_066_000 },
  values: null,
};
const plain = (text: string) => text.replaceAll("\u00a0", " ");

describe("rows", () => {
  test("cells, as JPMT's Figure 11 has them", () => {
    const cells = cellsOf(eventRow(call));
    expect(Object.values(cells).map((text) => (text === null ? null : plain(text)))).toEqual([
      ...["dispatcher.ThreadPool.get", "", null, "1.234568 s", "17.0 µs", "16.0 µs", "12.0 µs"],
      "no. 87 · #4 · 749 ms",
    ]);
  });

  test("a screen reader reads what the cells show", () => {
    expect(plain(spokenOf(eventRow(call)))).toBe(
      "dispatcher.ThreadPool.get, 17.0 µs wall, 16.0 µs CPU, 12.0 µs its own, request 87, 4 in the queue, queued for 749 ms, at 1.234568 s",
    );
    const waiting: EventsRow = {
      ...call,
      kind: "contended",
      name: "Counter#7",
      queue: null,
      children: 0,
      ended: "open",
    };
    expect(plain(spokenOf(eventRow({ ...waiting, cpuNs: null })))).toBe(
      "contended Counter#7, 17.0 µs wall, not over, at 1.234568 s",
    );
  });

  test("a call's values follow its name, also for a screen reader", () => {
    const values = { arguments: null, moreArguments: 0, returned: null, text: '("a", 2) → 3' };
    const row = eventRow({ ...call, ended: "thrown", values });
    const cells = cellsOf(row);
    expect([cells.name, cells.values]).toEqual(["dispatcher.ThreadPool.get", '("a", 2) → 3 ⚡']);
    expect(spokenOf(row)).toMatch(/^dispatcher\.ThreadPool\.get\("a", 2\) → 3, /);
    expect(titleOf(row)).toMatch(/^dispatcher\.ThreadPool\.get\("a", 2\) → 3\n/);
  });

  test("a row of an unknown request says so", () => {
    const row = eventRow({ ...call, queue: { number: null, length: 0, waitNs: null } });
    expect(cellsOf(row).queue).toBe("no. ? · #0");
    expect(partOf(row)).toEqual({ thread: 4, node: 17 });
  });
});

describe("the timeline", () => {
  const whole = { left: 0, right: 1000_000 };

  test("zooming keeps the time under the pointer, and stays within the trace", () => {
    const near = zoom(whole, whole, 0.5, 0.25);
    expect(near).toEqual({ left: 125_000, right: 625_000 });
    expect(zoom(near, whole, 100, 0.9)).toEqual(whole);
    expect(pan(near, whole, -5)).toEqual({ left: 0, right: 500_000 });
    expect(pan(near, whole, 5)).toEqual({ left: 500_000, right: 1000_000 });
    const narrow = zoom(near, whole, 1e-9, 0.5);
    expect(narrow.right - narrow.left).toBe(100);
  });

  test("revealing a range moves the view as little as possible", () => {
    const span = { left: 100_000, right: 200_000 };
    expect(reveal(span, whole, { left: 150_000, right: 160_000 })).toBe(span);
    expect(reveal(span, whole, { left: 500_000, right: 520_000 })).toEqual({ left: 460_000, right: 560_000 });
    expect(around({ left: 400_000, right: 500_000 }, whole)).toEqual({ left: 385_000, right: 515_000 });
  });

  test("ticks are at round times, in a suitable unit", () => {
    const texts = (left: number, right: number) => ticks({ left, right }, 500).map((tick) => plain(tick.text));
    expect(texts(0, 1e9)).toEqual(["0.0 s", "0.5 s", "1.0 s"]);
    expect(texts(1e9, 1.001e9)).toEqual(["1000.0 ms", "1000.5 ms", "1001.0 ms"]);
    expect(texts(500, 3000)).toEqual(["1 µs", "2 µs", "3 µs"]);
  });

  test("the chosen thread's lane has room for its calls", () => {
    const [first, second, third] = lanes([3, 5, 9], 5, 2);
    expect([first?.top, second?.top, third?.top]).toEqual([0, 20, 74]);
  });

  test("states differ in height or pattern, not just in colour", () => {
    const looks = Object.values(stateLooks).map((look) => `${look.height} ${look.hatched}`);
    expect(new Set(looks).size).toBe(looks.length);
  });

  test.each(themeKinds)("text is legible: %s", (kind) => {
    const theme = traceTheme(kind, readTheme(kind));
    for (const fill of [...theme.calls, theme.match]) {
      expect(contrast(readableOn(fill), fill)).toBeGreaterThan(4.5);
    }
    for (const colour of [theme.text, theme.quiet]) {
      expect(contrast(colour, theme.background)).toBeGreaterThan(4.5);
    }
    for (const colour of Object.values(theme.states)) {
      expect(contrast(colour, theme.background)).toBeGreaterThan(3);
    }
  });
});

test("a comparison's change has a sign and a word, and times are per call", () => {
  const sums = { count: 4, wallNs: 8_000_000, cpuNs: 1, selfWallNs: 4_000_000, thread: 3, node: 9 };
  const difference = { role: "Dispatcher-#", path: ["a.run", "a.get"], change: "slower" as const, selfWallNs: 3e6 };
  const row = differenceRow({ ...difference, a: sums, b: { ...sums, count: 1, wallNs: 1_000_000 } });
  expect([row.changeText, row.name, row.below, row.calls, plain(row.a), plain(row.b), plain(row.self)]).toEqual([
    ...["▲ slower", "a.get", "a.run", "4 / 1", "2.00 ms", "1.00 ms", "+3.00 ms"],
  ]);
  const gone = differenceRow({ ...difference, change: "vanished", a: null, b: sums });
  expect([gone.calls, gone.a, gone.place]).toEqual(["0 / 4", "–", { side: "b", thread: 3, node: 9 }]);
  const counts = { appeared: 0, vanished: 1, slower: 1, faster: 0, count: 0, same: 0 };
  const all = traceComparison("x", "y", {
    roles: [{ name: "main", a: 1, b: 2 }],
    rows: [],
    total: 2,
    counts,
    notes: [],
  });
  expect(plain(all.summary)).toBe("2 paths: 1 vanished, 1 slower");
  expect(all.roles).toEqual(["main (1 / 2)"]);
});

test("pages of a comparison are requested one at a time, and each is used once", () => {
  const pages = new Pages();
  pages.begin(250);
  expect([pages.take(0, 100), pages.ask(), pages.waiting, pages.ask()]).toEqual([true, 100, true, undefined]);
  expect([pages.take(100, 100), pages.take(100, 100), pages.waiting, pages.more]).toEqual([true, false, false, true]);
  // A page that could not be read is requested again.
  expect([pages.ask(), pages.take(200, 0), pages.ask(), pages.take(200, 50)]).toEqual([200, true, 200, true]);
  expect([pages.more, pages.ask()]).toEqual([false, undefined]);
  // The comparison was reloaded: this answer is too late.
  pages.begin(120);
  expect(pages.take(100, 20)).toBe(false);
});

describe("the selected row", () => {
  const told: [string | undefined, boolean][] = [];
  const chosen = new Chosen<string>((row, led) => told.push([row, led]));
  const heard = () => told.splice(0);

  test("moves the view when the user selects it, and not when rows around it load", () => {
    chosen.choose("early");
    expect(heard()).toEqual([["early", true]]);
    chosen.update("early");
    chosen.update("early");
    expect(heard()).toEqual([]);
  });

  test("moves the view once when it loads later", () => {
    chosen.choose(undefined);
    chosen.update(undefined);
    chosen.update("far");
    chosen.update("far");
    expect(heard()).toEqual([
      [undefined, false],
      ["far", true],
    ]);
  });

  test("does not move the view when it is loaded again with another column", () => {
    chosen.choose("here");
    chosen.update(undefined);
    chosen.update("here, queued");
    expect(heard()).toEqual([
      ["here", true],
      [undefined, false],
      ["here, queued", false],
    ]);
  });
});

test("a refine loop that is stopping says so until it has stopped", () => {
  const model: RefineModel = {
    ...{ title: "Refine shop", command: "shop", state: "going", stopping: false, message: "run 2", fraction: 0.4 },
    ...{ rows: [], hotspots: [], filter: null, notes: [] },
  };
  const says = (change: Partial<RefineModel>) => refineSays({ ...model, ...change });
  expect([says({}), says({ stopping: true }), says({ stopping: true, message: "run 3" })]).toEqual([
    ...["run 2", "stopping…", "stopping…"],
  ]);
  expect(says({ stopping: true, state: "done", message: "It was stopped." })).toBe("It was stopped.");
});

test("the refine loop's table: bars by metered calls, the last row may be running", () => {
  const first: RefineIteration = {
    ...{ number: 1, run: "/r1", filter: "/r1/filter", methods: 1200, classes: 90, fired: 5_000_000, metered: 400_000 },
    ...{ hotspots: 3, units: 1, wallNs: 2e9, cpuNs: 1e9, baselineWallNs: 1e9, baselineCpuNs: 1e9 },
    ...{
      overhead: 0.021,
      overheadLow: 0.004,
      overheadHigh: 0.039,
      cpuOverhead: null,
      cpuOverheadLow: null,
      cpuOverheadHigh: null,
      rechecked: ["a.b"],
      found: [],
    },
  };
  const second = { ...first, number: 2, metered: 100_000, overhead: null, wallNs: null, rechecked: [] };
  const [one, two] = refineRows([first, second], "going");
  expect(one).toMatchObject({ methods: "1,200", metered: "400,000", share: 1, rechecked: "1, none hot", going: false });
  expect(plain(one?.overhead ?? "")).toBe("2.1 % [0.4, 3.9]");
  expect(two).toMatchObject({ share: 0.25, unit: "–", overhead: "–", going: true });
});

test("hotspots are shown with Java's types", () => {
  for (const [name, text] of [
    ["dispatcher.ThreadPool.get()Ldispatcher/DispatchRequest;", "dispatcher.ThreadPool.get()"],
    ["shop.Cart.add(ILjava/lang/String;[[JZ)V", "shop.Cart.add(int, String, long[][], boolean)"],
    ["shop.Cart.<init>(Lshop/Cart$Item;)V", "shop.Cart.<init>(Cart.Item)"],
    // Native functions have no descriptors.
    ["shop::Cart::add(int)", "shop::Cart::add(int)"],
    ["shop::total(char const*) const", "shop::total(char const*) const"],
    ["main", "main"],
  ] as const) {
    expect(methodText(name)).toBe(text);
  }
});

test("a run is named after its program", () => {
  for (const [folder, name] of [
    ["/w/.fulcrum/runs/20261122T115608Z-dispatcher.Main", "dispatcher.Main"],
    ["/w/.fulcrum/runs/20261122T115608Z-dispatcher.Main-refine-1", "dispatcher.Main"],
    ["/w/.fulcrum/runs/20261122T115608Z-shop-refine-12-2", "shop"],
    ["/w/chain/iteration-2", "iteration-2"],
  ] as const) {
    expect(runName(folder)).toBe(name);
  }
});

test("the values of calls under the pointer are requested once, one call at a time", () => {
  const asked: [number, number][] = [];
  const values = new CallValues((thread, node) => asked.push([thread, node]));
  expect([values.of(2, 17), values.of(2, 17), values.of(2, 30)]).toEqual(["", "", ""]);
  expect(asked).toEqual([[2, 17]]);
  values.receive(2, 17, "(7) → true");
  expect([values.of(2, 17), values.of(2, 30)]).toEqual(["(7) → true", ""]);
  values.receive(2, 30, "");
  expect([values.of(2, 30), values.of(3, 17)]).toEqual(["", ""]);
  expect(asked).toEqual([
    [2, 17],
    [2, 30],
    [3, 17],
  ]);
  // Another trace is shown before the answer comes. It has a call 17, too.
  values.clear();
  expect(values.of(2, 17)).toBe("");
  expect(asked).toHaveLength(4);
});
