import { describe, expect, test } from "vitest";
import { FlameBoxes, FlameTiles, joined } from "../../extension/core/flame/boxes";
import { boxText, changeText, describeBox, signOf } from "../../extension/core/flame/describe";
import {
  boxAt,
  fittingName,
  type Pane,
  rowsInSight,
  shortName,
  visibleBoxes,
  withCallers,
} from "../../extension/core/flame/layout";
import { Needs } from "../../extension/core/flame/needs";
import { firstPlace, indexOf, namesTo, nextMatch, placeOf, step } from "../../extension/core/flame/selection";
import { flame } from "./makeNavigator";

const whole = { left: 0, right: 1 };
const screen = { width: 100, height: 100, rowHeight: 10 };
/** `a` calls `b` (60 %), which calls `c` and `d`, and `e` (40 %), which calls `c`. */
const boxes = new FlameBoxes(
  flame([
    [0, 0, 1, "a"],
    [1, 0.6, 0.4, "e"],
    [1, 0, 0.6, "b"],
    [2, 0, 0.2, "c"],
    [2, 0.2, 0.3, "d"],
    [2, 0.6, 0.1, "c"],
  ]),
  whole,
  0.001,
);
const pane: Pane = { boxes, range: whole, y: 0, direction: "down" };

function drawn(of: Pane): [name: string, x: number, y: number, width: number][] {
  const all: [string, number, number, number][] = [];
  visibleBoxes(of, screen, (box, x, y, width) => all.push([of.boxes.nameOf(box), x, y, width]));
  return all.map(([name, x, y, width]) => [name, Math.round(x), y, Math.round(width)]);
}

describe("layout", () => {
  test("boxes are placed by row and position, whatever their order in the message", () => {
    expect(drawn(pane)).toEqual([
      ["a", 0, 0, 100],
      ["b", 0, 10, 60],
      ["e", 60, 10, 40],
      ["c", 0, 20, 20],
      ["d", 20, 20, 30],
      ["c", 60, 20, 10],
    ]);
  });

  test("zoomed on e, its caller fills the row, and its siblings are not drawn", () => {
    expect(drawn({ ...pane, range: { left: 0.6, right: 1 } })).toEqual([
      ["a", 0, 0, 100],
      ["e", 0, 10, 100],
      ["c", 0, 20, 25],
    ]);
  });

  test("callers grow upwards and leave out the path itself", () => {
    expect(drawn({ ...pane, y: 50, direction: "up", skip: 1 }).map(([name, , y]) => [name, y])).toEqual([
      ["b", 40],
      ["e", 40],
      ["c", 30],
      ["d", 30],
      ["c", 30],
    ]);
  });

  test("rows off the screen are not drawn", () => {
    expect(drawn({ ...pane, y: -10 }).map(([name]) => name)).toEqual(["b", "e", "c", "d", "c"]);
    expect(drawn({ ...pane, y: 95 }).map(([name]) => name)).toEqual(["a"]);
  });

  test("visible rows are those up to the edge of the screen, and one more", () => {
    expect(rowsInSight(0, "down", screen)).toBe(11);
    expect(rowsInSight(-95, "down", screen)).toBe(21);
    expect(rowsInSight(200, "down", screen)).toBe(1);
    // Rows 0 to 5 end at 60 to 0, if row 0 begins at 50.
    expect(rowsInSight(50, "up", screen)).toBe(7);
    expect(rowsInSight(-30, "up", screen)).toBe(1);
  });

  test("the path keeps its place on the screen when the callers change", () => {
    const y = ({ above, scrolled }: ReturnType<typeof withCallers>) => above - scrolled;
    const few = { above: 20, scrolled: 0 };
    const many = withCallers(few, 40, 10);
    expect(many).toEqual({ above: 400, scrolled: 380 });
    expect(withCallers(many, 2, 10)).toEqual(few);
    // Fewer callers than there is room above: the rest stays empty.
    expect(withCallers({ above: 400, scrolled: 100 }, 5, 10)).toEqual({ above: 300, scrolled: 0 });
    expect([many, withCallers(many, 7, 10), withCallers(many, 90, 10)].map(y)).toEqual([20, 20, 20]);
  });

  test("a million boxes in a row are drawn as at most one per pixel", () => {
    const count = 1_000_000;
    const columns = Array.from({ length: count }, (_, n) => n);
    const zero = columns.map(() => 0);
    const million = new FlameBoxes(
      {
        depth: zero,
        x: columns.map((n) => n / count),
        width: columns.map(() => 1 / count),
        name: zero,
        label: zero,
        cost: zero,
        own: zero,
        against: null,
        names: ["f"],
        containers: [],
      },
      whole,
      0,
    );
    let most = 0;
    let emitted = 0;
    for (const range of [whole, { left: 0.25, right: 0.5 }, { left: 0.1, right: 0.1001 }]) {
      emitted = visibleBoxes({ ...pane, boxes: million, range }, { ...screen, width: 1600 }, () => undefined);
      most = Math.max(most, emitted);
    }
    expect(most).toBeLessThanOrEqual(1601);
    // The last range has a hundred boxes, each wide enough to see.
    expect(emitted).toBeGreaterThanOrEqual(100);
    expect(emitted).toBeLessThanOrEqual(102);
  });

  test("a point is mapped to its box, in both directions", () => {
    expect(boxes.nameOf(boxAt(pane, screen, 65, 25))).toBe("c");
    expect(boxAt(pane, screen, 95, 25)).toBe(-1);
    expect(boxAt(pane, screen, 5, 55)).toBe(-1);
    const up: Pane = { ...pane, y: 50, direction: "up", skip: 1 };
    expect(boxes.nameOf(boxAt(up, screen, 65, 45))).toBe("e");
    expect(boxAt(up, screen, 65, 55)).toBe(-1);
  });
});

describe("keys", () => {
  const go = (from: string, way: Parameters<typeof step>[2], range = whole) => {
    const at = [0, 1, 2].flatMap((row) => {
      const [first, end] = boxes.row(row);
      return Array.from({ length: end - first }, (_, n) => ({ box: first + n, row }));
    });
    const start = at.find(({ box }) => boxes.nameOf(box) === from);
    if (start === undefined) {
      throw new Error(from);
    }
    const next = step(boxes, placeOf(boxes, start.row, start.box), way, range, 0.001);
    return next && boxes.nameOf(next.box);
  };

  test("move outwards to the widest box, inwards to the box below, sideways along the row", () => {
    expect(go("a", "outwards")).toBe("b");
    expect(go("b", "outwards")).toBe("d");
    expect(go("d", "inwards")).toBe("b");
    expect(go("b", "right")).toBe("e");
    expect(go("e", "left")).toBe("b");
    expect(go("a", "inwards")).toBeUndefined();
    expect(go("d", "outwards")).toBeUndefined();
    expect(go("e", "left", { left: 0.6, right: 1 })).toBeUndefined();
  });

  test("a selection survives finer detail, and knows its path", () => {
    const place = placeOf(boxes, 2, 5);
    expect(namesTo(boxes, place)).toEqual(["a", "e", "c"]);
    expect(indexOf(boxes, place)).toBe(5);
    expect(indexOf(boxes, { ...place, x: 0.61 })).toBe(-1);
    expect(firstPlace(boxes, whole)?.place).toEqual({ row: 0, x: 0, width: 1 });
  });

  test("step through the matches and wrap around", () => {
    const isC = (name: string) => name === "c";
    const tree = [{ section: "tree", boxes, skip: 0 }];
    const first = nextMatch(tree, undefined, "forwards", isC);
    const second = nextMatch(tree, first, "forwards", isC);
    expect([first?.place.x, second?.place.x]).toEqual([0, 0.6]);
    expect(nextMatch(tree, second, "forwards", isC)?.place.x).toBe(0);
    expect(nextMatch(tree, first, "backwards", isC)?.place.x).toBe(0.6);
    expect(nextMatch(tree, undefined, "backwards", isC)?.place.x).toBe(0.6);
    expect(nextMatch(tree, undefined, "forwards", () => false)).toBeUndefined();
  });

  test("step through callers' and then callees' matches, and count the path once", () => {
    const halves = [
      { section: "callers", boxes, skip: 1 },
      { section: "callees", boxes, skip: 0 },
    ];
    const seen: string[] = [];
    let at: ReturnType<typeof nextMatch<string>>;
    for (let n = 0; n < 5; n += 1) {
      at = nextMatch(halves, at, "forwards", (name) => name === "a" || name === "e");
      seen.push(`${at?.section} ${at?.place.row}`);
    }
    expect(seen).toEqual(["callers 1", "callees 0", "callees 1", "callers 1", "callees 0"]);
    expect(
      nextMatch(halves, { section: "callees", place: placeOf(boxes, 0, 0) }, "backwards", (it) => it === "e"),
    ).toEqual({
      section: "callers",
      place: placeOf(boxes, 1, 2),
    });
  });
});

describe("tiles", () => {
  const tile = (left: number, right: number, minimum: number, levels?: number) =>
    new FlameBoxes(flame([[0, left, right - left, "a"]]), { left, right }, minimum, levels);

  test("the coarsest sufficient tile is drawn; if there is none, the finest is, and a finer one is requested", () => {
    const tiles = new FlameTiles();
    expect(tiles.best(whole, 0.01)).toEqual({ tile: undefined, enough: false });
    const [coarse, fine, part] = [tile(0, 1, 0.01), tile(0, 1, 0.0001), tile(0.2, 0.4, 0.00001)];
    [coarse, fine, part].forEach((it) => {
      tiles.add(it);
    });
    expect(tiles.best(whole, 0.01)).toEqual({ tile: coarse, enough: true });
    expect(tiles.best(whole, 0.001)).toEqual({ tile: fine, enough: true });
    expect(tiles.best({ left: 0.3, right: 0.35 }, 0.00002)).toEqual({ tile: part, enough: true });
    expect(tiles.best({ left: 0.3, right: 0.45 }, 0.00002)).toEqual({ tile: fine, enough: false });
  });

  test("a tile with too few rows does not suffice after scrolling past them", () => {
    const tiles = new FlameTiles();
    const [cut, deeper] = [
      tile(0, 1, 0.01, 3),
      new FlameBoxes(flame([0, 1].map((row) => [row, 0, 1, "a"])), whole, 0.01, 3),
    ];
    tiles.add(cut);
    expect([tiles.best(whole, 0.01, 1).enough, tiles.best(whole, 0.01, 2).enough]).toEqual([true, false]);
    tiles.add(deeper);
    expect(tiles.best(whole, 0.01, 2)).toEqual({ tile: deeper, enough: true });
    // The known rows stay while more are fetched.
    expect(tiles.best(whole, 0.01, 3)).toEqual({ tile: deeper, enough: false });
  });

  test("a tile with all rows suffices at any scroll position", () => {
    const tiles = new FlameTiles();
    tiles.add(tile(0, 1, 0.01));
    expect(tiles.best(whole, 0.01, 5000).enough).toBe(true);
  });

  test("after labels change, old tiles are drawn until the engine sends new ones", () => {
    const tiles = new FlameTiles();
    const [before, part, after, later] = [
      tile(0, 1, 0.01),
      tile(0.2, 0.4, 0.001),
      tile(0, 1, 0.01),
      tile(0.2, 0.4, 0.001),
    ];
    tiles.add(before);
    tiles.add(part);
    tiles.outdate();
    expect(tiles.best({ left: 0.2, right: 0.3 }, 0.001)).toEqual({ tile: part, enough: false });
    tiles.add(later);
    expect(tiles.best({ left: 0.2, right: 0.3 }, 0.001)).toEqual({ tile: later, enough: true });
    expect(tiles.best(whole, 0.01)).toEqual({ tile: before, enough: false });
    tiles.add(after);
    expect(tiles.best(whole, 0.01)).toEqual({ tile: after, enough: true });
  });

  test("a missing tile is requested once, again after a failure, and with many more rows than needed", () => {
    const tiles = new FlameTiles();
    const needs = new Needs();
    const of = (left: number, right: number, rows = 40) => needs.of("tree", tiles, { left, right }, 0.001, rows);
    const first = of(0.375, 0.625);
    expect(first).toEqual({ section: "tree", range: { left: 0.25, right: 0.75 }, minimum: 0.001, depths: 300 });
    expect(of(0.375, 0.625)).toBeUndefined();
    needs.failed(first ?? expect.fail("nothing was requested"));
    expect(of(0.375, 0.625)).toEqual(first);
    expect([300, 301, 302, 2500].map((rows) => of(0, 1, rows)?.depths)).toEqual([300, 600, undefined, 4800]);
    tiles.add(tile(0, 1, 0.001));
    expect(of(0, 1)).toBeUndefined();
  });

  test("a tile is requested again after eviction, and finer when there is more room", () => {
    const tiles = new FlameTiles();
    const needs = new Needs();
    const visit = (left: number, right: number, minimum = (right - left) / 1000) => {
      const need = needs.of("tree", tiles, { left, right }, minimum, 10);
      if (need !== undefined) {
        tiles.add(tile(need.range.left, need.range.right, need.minimum));
        needs.answered(need, tiles);
      }
      return need !== undefined;
    };
    expect([visit(0, 1), visit(0, 1), visit(0, 1, 0.0001), visit(0.1, 0.12), visit(0.1, 0.12)]).toEqual([
      ...[true, false, true, true, false],
    ]);
    for (let n = 0; n < 12; n += 1) {
      visit(0.2 + n * 0.05, 0.21 + n * 0.05);
    }
    expect([visit(0.1, 0.12), visit(0.1, 0.12)]).toEqual([true, false]);
    // An engine that answers with something else is not asked again and again.
    const need = needs.of("tree", tiles, { left: 0.95, right: 0.99 }, 1e-6, 10) ?? expect.fail("nothing was requested");
    tiles.add(tile(0, 1, 0.001));
    needs.answered(need, tiles);
    expect(needs.of("tree", tiles, { left: 0.95, right: 0.99 }, 1e-6, 10)).toBeUndefined();
  });

  test("pieces of a tile that arrive one by one are joined", () => {
    const upper = {
      ...flame([
        [0, 0, 1, "a"],
        [1, 0, 1, "b"],
      ]),
      containers: [0],
    };
    const lower = {
      ...flame([
        [2, 0, 0.5, "c"],
        [2, 0.5, 0.5, "a"],
      ]),
      containers: [1],
    };
    const both = new FlameBoxes(joined([upper, lower]), whole, 0.001, 3);
    expect([0, 1, 2, 3].map((box) => both.nameOf(box))).toEqual(["a", "b", "c", "a"]);
    expect([0, 1, 2, 3].map((box) => both.isContainer(box))).toEqual([true, false, false, true]);
    expect([both.rows, both.levels, both.reaches(9), both.against]).toEqual([3, 3, true, null]);
  });

  test("old tiles are evicted, the overview stays", () => {
    const tiles = new FlameTiles(3);
    const overview = tile(0, 1, 0.01);
    tiles.add(overview);
    for (let n = 0; n < 9; n += 1) {
      tiles.add(tile(0.1, 0.2, 0.001));
    }
    expect(tiles.best(whole, 0.01).tile).toBe(overview);
  });
});

describe("text", () => {
  test.each([
    ["main", 20, "main"],
    ["alloc::vec::Vec<T, A>::push", 16, "Vec<T, A>::push"],
    ["com.sun.TCommandImpl$1.run", 20, "TCommandImpl$1.run"],
    ["github.com/google/pprof/profile.(*Profile).Parse", 30, "(*Profile).Parse"],
    ["operator()<std::string>(int)", 40, "operator()<std::string>(int)"],
    ["abcdefgh", 5, "abcd…"],
    ["abcdefgh", 2, ""],
  ])("%s in %d letters is %s", (name, letters, text) => {
    expect(fittingName(name, letters)).toBe(text);
  });

  test("shortened names keep what distinguishes functions", () => {
    expect(shortName("a.b.c.List.add")).toBe("List.add");
    expect(shortName("<alloc::vec::Vec<T> as core::ops::Drop>::drop")).toBe(
      "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
    );
    expect(shortName("std::__1::sort<int*, std::less<int>>")).toBe("__1::sort<int*, std::less<int>>");
    expect(shortName("./node_modules/x/index.js")).toBe("index.js");
    expect(shortName("[truncated]")).toBe("[truncated]");
  });

  test("a box's description has its cost, own cost, change and label", () => {
    const facts = {
      name: "parse",
      times: 1,
      cost: 300,
      own: 100,
      against: 200,
      caller: false,
      label: "hot",
      total: 1000,
      unit: "",
    };
    expect(describeBox(facts).replaceAll("\u00a0", " ")).toBe(
      "parse: 300 (30 %), 100 (10 %) its own, B 200, Δ +100 (+50 %), label hot",
    );
    expect(describeBox({ ...facts, times: 17 })).toMatch(/^parse ×17: 300/);
    expect([changeText(5, 0), changeText(0, 5), changeText(0, 0)]).toEqual(["new", "gone", "no change"]);
    expect([signOf(5, 3), signOf(3, 5), signOf(3, 3), signOf(3, null)]).toEqual(["+ ", "− ", "", ""]);
  });

  test("a box shows its label's number, its sign and its name, as far as they fit", () => {
    expect(boxText("parse", -1, "", 20)).toBe("parse");
    expect(boxText("parse", 8, "+ ", 20)).toBe("#9 + parse");
    expect([7, 5, 4, 3, 1, 0].map((room) => boxText("parse", 0, "", room))).toEqual([
      "#1 par…",
      "#1",
      "#1",
      "#1",
      "",
      "",
    ]);
    expect([20, 9, 8, 6].map((room) => boxText("parse", -1, "", room, 17))).toEqual([
      "parse ×17",
      "parse ×17",
      "par… ×17",
      "parse",
    ]);
    expect(boxText("parse", -1, "", 20, 2)).toBe("parse");
    expect([8, 4, 3, 1, 0].map((room) => boxText("parse", 0, "− ", room))).toEqual(["#1 − pa…", "#1 −", "−", "−", ""]);
  });
});
