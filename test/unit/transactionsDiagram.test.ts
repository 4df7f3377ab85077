/** The layout of the stage diagram's boxes and arrows. */
import { describe, expect, test } from "vitest";
import { type Diagram, mostBoxes, stageDiagram } from "../../extension/core/transactions/diagram";
import { layers } from "../../extension/core/transactions/layers";
import { flow, shownOf, stay, way } from "./makeTransactions";

const thread = (name: string, cpuShare: number) => {
  const [process, thread] = name.split("/") as [string, string];
  return { process, thread, cpuNs: cpuShare * 1e9, cpuShare };
};
const box = (diagram: Diagram | null, name: string) => {
  const found = diagram?.boxes.find((it) => it.name === name);
  if (found === undefined) {
    throw new Error(`no box ${name} in ${diagram?.boxes.map((it) => it.name)}`);
  }
  return found;
};
const inside = (outer: { x: number; y: number; width: number; height: number }, it: typeof outer) =>
  it.x >= outer.x &&
  it.y >= outer.y &&
  it.x + it.width <= outer.x + outer.width &&
  it.y + it.height <= outer.y + outer.height;
const apart = (a: { x: number; y: number; width: number; height: number }, b: typeof a) =>
  a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

/** What must be true of any diagram. */
function check(diagram: Diagram | null): Diagram {
  if (diagram === null) {
    throw new Error("no diagram");
  }
  const whole = { x: 0, y: 0, width: diagram.width, height: diagram.height };
  for (const process of diagram.processes) {
    expect(inside(whole, process)).toBe(true);
  }
  for (const it of diagram.boxes) {
    expect(diagram.processes.filter((process) => inside(process, it)).length).toBe(1);
    expect(it.share === null || (it.share >= 0 && it.share <= 1)).toBe(true);
  }
  const all = [diagram.boxes, diagram.processes];
  for (const some of all) {
    some.forEach((a, n) => {
      for (const b of some.slice(n + 1)) {
        expect(apart(a, b)).toBe(true);
      }
    });
  }
  const ids = new Set(diagram.boxes.map((it) => it.id));
  expect(ids.size).toBe(diagram.boxes.length);
  for (const arrow of diagram.arrows) {
    expect(ids.has(arrow.from) && ids.has(arrow.to)).toBe(true);
    expect(arrow.path).toMatch(/^M[-\d. ]+C[-\d. ]+$/);
  }
  return diagram;
}

describe("layers", () => {
  const edge = (from: string, to: string, weight = 1) => ({ from, to, weight });

  test("each node comes after all nodes that lead to it", () => {
    const found = layers(["c", "a", "b", "alone"], [edge("a", "b"), edge("b", "c"), edge("a", "c")], new Map());
    expect(Object.fromEntries(found)).toEqual({ a: 0, b: 1, c: 2, alone: 0 });
  });

  test("of a request and its reply, the one in the transactions' direction counts, else the more frequent one", () => {
    const both = [edge("back", "front", 5), edge("front", "back", 5)];
    const position = new Map([
      ["front", 0],
      ["back", 1],
    ]);
    expect(layers(["back", "front"], both, position).get("back")).toBe(1);
    const heavier = layers(["a", "b"], [edge("b", "a", 1), edge("a", "b", 2)], new Map());
    expect(heavier.get("b")).toBe(1);
  });

  test("cycles and loops terminate", () => {
    const circle = [edge("a", "b", 3), edge("b", "c", 2), edge("c", "a", 1), edge("a", "a", 9), edge("x", "a", 1)];
    expect(Object.fromEntries(layers(["a", "b", "c"], circle, new Map()))).toEqual({ a: 0, b: 1, c: 2 });
  });
});

describe("the stage diagram", () => {
  test("Figure 8: a listener's queue to its workers, in one process", () => {
    const shown = shownOf({
      stages: [thread("apache2/worker", 0.9), thread("apache2/listener", 0.1)],
      flows: [
        flow("apache2/ap_queue_push", "apache2/ap_queue_pop", 3980, "memory"),
        flow("apache2/start", "apache2/worker", 2, "stage"),
      ],
    });
    const diagram = check(stageDiagram(shown, []));
    expect(diagram.processes.map((it) => [it.name, it.shareText.replace("\u00a0", " ")])).toEqual([
      ["apache2", "100 %"],
    ]);
    // A thread that is also a stage has one box.
    expect(diagram.boxes.map((it) => it.name).sort()).toEqual([
      ...["ap_queue_pop", "ap_queue_push", "listener", "start", "worker"],
    ]);
    expect(box(diagram, "worker")).toMatchObject({ share: 0.9 });
    expect(box(diagram, "ap_queue_pop").share).toBeNull();
    expect(box(diagram, "ap_queue_pop").x).toBeGreaterThan(box(diagram, "ap_queue_push").x);
    expect(box(diagram, "worker").x).toBeGreaterThan(box(diagram, "start").x);
    expect(diagram.arrows.map((it) => [it.kind, it.count, it.spoken.replaceAll("\u00a0", " ")])).toEqual([
      ["memory", "3,980", "ap_queue_push → ap_queue_pop: 3980 flows by memory"],
      ["stage", "2", "start → worker: 2 flows by stage"],
    ]);
    expect(diagram.arrows[0]?.thickness).toBeGreaterThan(diagram.arrows[1]?.thickness ?? 9);
  });

  test("three tiers are laid out from left to right in their transactions' order, whatever the replies do", () => {
    const flows = [
      flow("mysqld/net_flush", "java/read_message", 20),
      flow("java/respond", "squid/read_message", 20),
      flow("java/execute", "mysqld/read_message", 20),
      flow("squid/forward", "java/read_message", 20),
    ];
    const go = [
      stay("squid/squid", "forward", 0, 1),
      stay("java/main", "execute", 1, 2),
      stay("mysqld/connection", "sort", 2, 3),
    ];
    const diagram = check(stageDiagram(shownOf({ flows }), [way("GET /x", 3, go)]));
    const left = Object.fromEntries(diagram.processes.map((it) => [it.name, it.x]));
    expect(left.squid).toBeLessThan(left.java ?? 0);
    expect(left.java).toBeLessThan(left.mysqld ?? 0);
    // The request leaves on the right, the reply on the left.
    const of = (name: string) => diagram.arrows.find((it) => it.spoken.startsWith(name));
    const start = (name: string) => Number(/^M([\d.]+)/.exec(of(name)?.path ?? "")?.[1]);
    expect(start("forward")).toBe(box(diagram, "forward").x + box(diagram, "forward").width);
    expect(start("respond")).toBe(box(diagram, "respond").x);
  });

  test("stages with the same name in two programs are different", () => {
    const flows = [flow("a/read", "b/read", 1)];
    const diagram = check(stageDiagram(shownOf({ flows }), []));
    expect(diagram.boxes.map((it) => it.process)).toEqual(["a", "b"]);
  });

  test("beyond forty boxes the others become one box with their sums", () => {
    const stages = Array.from({ length: 60 }, (_, n) => thread(`server/worker-${n}`, n < 40 ? 0.02 : 0.01));
    const flows = [
      flow("server/worker-0", "server/worker-50", 5, "stage"),
      flow("server/worker-0", "server/worker-51", 7, "stage"),
      flow("server/worker-52", "server/worker-53", 1, "stage"),
    ].map((it) => ({ ...it, count: it.count }));
    const heavy = [flow("server/worker-1", "server/worker-2", 1_000_000, "memory")];
    const diagram = check(stageDiagram(shownOf({ stages, flows: [...flows, ...heavy] }), []));
    expect(diagram.boxes.length).toBe(mostBoxes + 1);
    const other = diagram.boxes.find((it) => it.name.includes("other"));
    expect(other?.name.replace("\u00a0", " ")).toBe("20 other stages");
    expect(other?.share).toBeCloseTo(0.2);
    const together = diagram.arrows.find((it) => it.to === other?.id);
    expect([together?.kind, together?.count]).toEqual(["stage", "12"]);
    // Flows among the others are not drawn.
    expect(diagram.arrows.length).toBe(2);
    expect(diagram.processes.map((it) => it.name)).toEqual(["server", "others"]);
  });

  test("several kinds of flow between two stages, loops and cycles have their own arrows", () => {
    const flows = [
      flow("a/x", "a/y", 3, "event"),
      flow("a/x", "a/y", 2, "memory"),
      flow("a/y", "a/x", 1, "event"),
      flow("a/x", "a/x", 4, "event"),
    ];
    const diagram = check(stageDiagram(shownOf({ flows }), []));
    expect(new Set(diagram.arrows.map((it) => it.path)).size).toBe(4);
    // Their counts do not overlap.
    expect(new Set(diagram.arrows.map((it) => `${it.x} ${it.y}`)).size).toBe(4);
    for (const it of diagram.arrows) {
      expect(diagram.boxes.every((box) => apart(box, { x: it.x, y: it.y, width: 0, height: 0 }))).toBe(true);
    }
  });

  test("nothing is drawn if nothing was recorded", () => {
    expect(stageDiagram(shownOf(), [])).toBeNull();
  });
});
