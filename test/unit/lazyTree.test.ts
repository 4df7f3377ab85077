/** A tree that loads only the rows on screen. */
import { describe, expect, test } from "vitest";
import { LazyTree } from "../../extension/core/trace/lazyTree";

interface Row {
  name: string;
  children: number;
}

const row = (name: string, children = 0): Row => ({ name, children });

/** Fills in all missing rows by a rule. Returns what was requested. */
function load(tree: LazyTree<Row>, first: number, end: number, make: (name: string, index: number) => Row): string[] {
  return tree.missing(first, end).map(({ branch, from, count }) => {
    const of = branch.parent?.rows.get(branch.index)?.name ?? "top";
    tree.receive(
      branch,
      from,
      Array.from({ length: count }, (_, n) => make(of, from + n)),
    );
    return `${of} ${from}+${count}`;
  });
}

function names(tree: LazyTree<Row>, first = 0, end = tree.length): string[] {
  return Array.from({ length: end - first }, (_, n) => {
    const entry = tree.entry(first + n);
    return `${"  ".repeat(entry?.depth ?? 0)}${entry?.row?.name ?? "?"}`;
  });
}

const make = (of: string, index: number): Row => row(`${of}.${index}`, index === 1 ? 2 : 0);

describe("the lazy tree", () => {
  test("an open row shows its children, and closing it remembers which of them are open", () => {
    const tree = new LazyTree<Row>([row("a", 3), row("b"), row("c", 2)]);
    expect(tree.set(0, true)).toBe(true);
    expect(names(tree)).toEqual(["a", "  ?", "  ?", "  ?", "b", "c"]);
    expect(load(tree, 0, 6, make)).toEqual(["a 0+3"]);
    expect(tree.set(2, true)).toBe(true);
    expect(load(tree, 0, tree.length, make)).toEqual(["a.1 0+2"]);
    expect(names(tree)).toEqual(["a", "  a.0", "  a.1", "    a.1.0", "    a.1.1", "  a.2", "b", "c"]);
    tree.set(0, false);
    expect(names(tree)).toEqual(["a", "b", "c"]);
    tree.set(0, true);
    expect(tree.length).toBe(8);
    tree.set(2, false);
    expect(names(tree)).toEqual(["a", "  a.0", "  a.1", "  a.2", "b", "c"]);
  });

  test("rows without children do not open", () => {
    const tree = new LazyTree<Row>([row("a"), row("b", 1)]);
    expect([tree.set(0, true), tree.set(1, false), tree.set(5, true)]).toEqual([false, false, false]);
  });

  test("a million rows are requested in pages, and found without a linear search", () => {
    const tree = new LazyTree<Row>([row("a", 1_000_000), row("b", 1_000_000)]);
    tree.set(0, true);
    tree.set(1_000_001, true);
    expect(tree.length).toBe(2_000_002);
    expect(load(tree, 999_995, 1_000_006, make)).toEqual(["a 999900+100", "b 0+100"]);
    expect(names(tree, 1_000_000, 1_000_004)).toEqual(["  a.999999", "b", "  b.0", "  b.1"]);
    expect(tree.missing(999_995, 1_000_006)).toEqual([]);
  });

  test("a row is found at its index, and its parent is above it", () => {
    const tree = new LazyTree<Row>([row("a", 5), row("b", 5), row("c", 5)]);
    for (const name of ["c", "b", "a"]) {
      tree.set(names(tree).indexOf(name), true);
    }
    load(tree, 0, tree.length, make);
    tree.set(names(tree).indexOf("  b.1"), true);
    tree.set(names(tree).indexOf("  a.1"), true);
    load(tree, 0, tree.length, make);
    for (let at = 0; at < tree.length; at += 1) {
      const entry = tree.entry(at);
      expect(entry === undefined ? -1 : tree.position(entry.branch, entry.index)).toBe(at);
    }
    const child = names(tree).indexOf("    b.1.1");
    expect(names(tree)[tree.parentOf(child) ?? -1]).toBe("  b.1");
    expect(tree.parentOf(0)).toBeUndefined();
  });

  test("outdated rows are requested again, and stay open", () => {
    const tree = new LazyTree<Row>([row("a", 2)]);
    tree.set(0, true);
    load(tree, 0, 3, make);
    tree.set(2, true);
    tree.forgetRows();
    expect(names(tree)).toEqual(["a", "  ?", "  ?", "    ?", "    ?"]);
    expect(tree.missing(0, 5).length).toBe(2);
  });

  test("keys move in their direction, and stop at the ends", () => {
    const tree = new LazyTree<Row>(Array.from({ length: 30 }, (_, n) => row(`${n}`)));
    const led = (at: number, key: string) => tree.move(at, key, 10);
    expect([led(0, "ArrowDown"), led(0, "ArrowUp"), led(25, "PageDown"), led(5, "PageUp")]).toEqual([1, 0, 29, 0]);
    expect([led(3, "Home"), led(3, "End"), led(29, "End"), led(3, "x")]).toEqual([0, 29, undefined, undefined]);
  });
});
