/** The text of a transactional profile: types, crosstalk, single transactions. */
import { describe, expect, test } from "vitest";
import { comparedTypes } from "../../extension/core/transactions/compare";
import { crosstalkMatrix, others, pairLocks } from "../../extension/core/transactions/crosstalk";
import { isFunction, type PathPart, pathParts } from "../../extension/core/transactions/paths";
import {
  firstOrder,
  nextOrder,
  stageName,
  summaryText,
  type TypeColumn,
  typeRows,
} from "../../extension/core/transactions/types";
import { drawnText, typesWithWays, wayPicture, waysOf, wayText } from "../../extension/core/transactions/ways";
import { cost, difference, ms, openedOf, pair, shownOf, stay, type, way } from "./makeTransactions";

const plain = (text: string) => text.replaceAll("\u00a0", " ");

describe("types", () => {
  const buy = type("GET /buy", {
    ...{ cpuNs: 60 * ms, cpuShare: 0.6, waitNs: 150 * ms, unreplied: 3, count: 1200 },
    stages: [
      { process: "mysqld", thread: "connection", cpuNs: 50 * ms, cpuShare: 0.5 },
      { process: "shop", thread: "shop", cpuNs: 10 * ms, cpuShare: 0.1 },
    ],
  });
  const list = type("GET /list");
  const idle = type("no transaction", {
    ...{ context: [], count: 0, cpuNs: 10 * ms, cpuShare: 0.1 },
    ...{ wallMeanNs: null, wallP50Ns: null, wallP95Ns: null, wallP99Ns: null },
  });
  const shown = shownOf({ types: [list, idle, buy] });
  const names = (column: TypeColumn, descending: boolean) =>
    typeRows(shown, { column, descending }, new Set()).map((row) => row.name);

  test("the costliest come first, with all known values", () => {
    const rows = typeRows(shown, firstOrder, new Set());
    expect(rows.map((row) => row.name)).toEqual(["GET /buy", "GET /list", "no transaction"]);
    const [first, , last] = rows;
    expect(first).toMatchObject({
      level: 1,
      share: 0.6,
      open: false,
      count: "1,200",
      context: "listener_thread > push → worker_thread > recv",
    });
    expect(
      [first?.shareText, first?.cpu, first?.p50, first?.p95, first?.p99, first?.waited].map((it) => plain(it ?? "")),
    ).toEqual(["60 %", "60.0 ms", "3.00 ms", "8.00 ms", "9.00 ms", "150 ms"]);
    expect(plain(first?.spoken ?? "")).toBe(
      "GET /buy: 60 % of CPU time, 60.0 ms, 1,200 transactions, median 3.00 ms, 95 % within 8.00 ms, 99 % within 9.00 ms, 3 without a reply, waited 150 ms for others",
    );
    expect(last).toMatchObject({ open: null, count: "–", p50: "–", p95: "–", p99: "–", waited: "–" });
  });

  test("any column sorts in both directions, and unknown values stay last", () => {
    expect(names("name", false)).toEqual(["GET /buy", "GET /list", "no transaction"]);
    expect(names("name", true)).toEqual(["no transaction", "GET /list", "GET /buy"]);
    expect(names("cpu", false)).toEqual(["no transaction", "GET /list", "GET /buy"]);
    expect(names("count", false)).toEqual(["no transaction", "GET /list", "GET /buy"]);
    expect(names("p99", true).at(-1)).toBe("no transaction");
    expect(names("p99", false).at(-1)).toBe("no transaction");
    expect(names("waited", true)[0]).toBe("GET /buy");
  });

  test("a click sorts the largest first, or names from A; a second click reverses it", () => {
    expect(nextOrder(firstOrder, "p99")).toEqual({ column: "p99", descending: true });
    expect(nextOrder(firstOrder, "name")).toEqual({ column: "name", descending: false });
    expect(nextOrder(firstOrder, "cpu")).toEqual({ column: "cpu", descending: false });
  });

  test("stages unfold below their type", () => {
    const rows = typeRows(shown, firstOrder, new Set(["GET /buy", "no transaction"]));
    expect(rows.map((row) => [row.level, row.name])).toEqual([
      [1, "GET /buy"],
      [2, "mysqld, connection"],
      [2, "shop"],
      [1, "GET /list"],
      [1, "no transaction"],
    ]);
    expect(new Set(rows.map((row) => row.key)).size).toBe(5);
    expect(plain(rows[1]?.spoken ?? "")).toBe("mysqld, connection, a stage of GET /buy: 50 % of CPU time, 50.0 ms");
  });

  test("an unnamed thread has its program's name, of which the kernel keeps 15 characters", () => {
    expect(stageName({ process: "a-program-of-a-long-name", thread: "a-program-of-a-" })).toBe(
      "a-program-of-a-long-name",
    );
    expect(stageName({ process: "httpd", thread: "" })).toBe("httpd");
    expect(stageName({ process: "httpd", thread: "worker" })).toBe("httpd, worker");
  });

  test("one sentence is the summary", () => {
    expect(plain(summaryText(shown, 150 * ms))).toBe(
      "3 types of transactions, 100 ms of CPU time, 150 ms of waiting at locks.",
    );
    expect(plain(summaryText(shownOf({ types: [buy] }), 0))).toBe("1 type of transactions, 100 ms of CPU time.");
  });
});

describe("crosstalk", () => {
  const crosstalk = {
    waitNs: 0,
    notes: [],
    pairs: [
      pair("AdminConfirm", "BestSellers", 360 * ms, {
        ...{ count: 4, lock: "item", kind: "rwlock" },
        paths: [
          {
            ...{ waiter: "serve > update > lock", waiterFunctions: ["serve", "update", "lock"], waitNs: 300 * ms },
            ...{ holder: "serve > sort > unlock", holderFunctions: ["serve", "sort", "unlock"] },
          },
          {
            ...{ waiter: "serve > update > lock", waiterFunctions: ["serve", "update", "lock"], waitNs: 60 * ms },
            ...{ holder: null, holderFunctions: [] },
          },
        ],
      }),
      pair("Home", "BestSellers", 90 * ms),
      pair("AdminConfirm", "BestSellers", 40 * ms),
      pair("BestSellers", "unknown", 4 * ms, { count: 1 }),
    ],
  };

  test("rows are waiters and columns are holders, longest waits first", () => {
    const matrix = crosstalkMatrix(crosstalk);
    expect(matrix?.waiters).toEqual(["AdminConfirm", "Home", "BestSellers"]);
    expect(matrix?.holders).toEqual(["BestSellers", "unknown"]);
    expect(matrix?.totals.map(plain)).toEqual(["400 ms", "90.0 ms", "4.00 ms"]);
    const [admin, home, best] = matrix?.cells ?? [];
    expect(admin?.[0]).toMatchObject({ count: "6", heat: 1 });
    expect(plain(admin?.[0]?.spoken ?? "")).toBe(
      "AdminConfirm waited 400 ms for BestSellers: 6 times, 66.7 ms on average",
    );
    expect(admin?.[1]).toBeNull();
    expect(home?.[0]?.heat).toBeCloseTo(Math.sqrt(90 / 400));
    expect(best?.[1]?.heat).toBeCloseTo(0.1);
  });

  test("a cell's locks have both call paths", () => {
    const locks = pairLocks(crosstalk, "AdminConfirm", "BestSellers");
    expect(locks.map((it) => [it.lock, plain(it.total), plain(it.mean), plain(it.waits), it.types])).toEqual([
      ["item (rwlock)", "360 ms", "90.0 ms", "4 waits", null],
      ["cart_lock (mutex)", "40.0 ms", "20.0 ms", "2 waits", null],
    ]);
    const text = (parts: readonly PathPart[]) => parts.map((part) => part.text).join("");
    expect(locks[0]?.paths.map((it) => [plain(it.total), text(it.waiter), text(it.holder)])).toEqual([
      ["300 ms", "serve > update > lock", "serve > sort > unlock"],
      ["60.0 ms", "serve > update > lock", "not known"],
    ]);
  });

  test("a critical section's price is shown beside its lock, and a wait without a section is not measured", () => {
    const sentence = "Home waits 45.0 ms behind BestSellers on cart_lock; if that section took half the time, …";
    const price = {
      ...{ waiter: "Home", holder: "BestSellers", lock: "cart_lock", function: "sort", progressPoint: "Home" },
      ...{ speedup: 0.5, gain: 0.11, gainLow: 0.08, gainHigh: 0.14, experiments: 40, run: "/run/prices/001" },
      ...{ sentence, notes: ["The experiments sped up what sort does."] },
    };
    const pairs = [
      pair("Home", "BestSellers", 90 * ms, { price }),
      pair("Home", "BestSellers", 80 * ms, { kind: "condition", lock: "in wait" }),
    ];
    const [known, signalled] = pairLocks({ waitNs: 0, pairs, notes: [] }, "Home", "BestSellers");
    expect(known?.price).toEqual({ sentence, notes: price.notes });
    expect(known?.section).toEqual({ waiter: "Home", holder: "BestSellers", lock: "cart_lock" });
    expect([signalled?.price, signalled?.section]).toEqual([null, null]);
  });

  test("what the waiter would gain without the waits is shown beside the lock", () => {
    const sentence = "Without these waits, Home would be 18 % faster (16…21).";
    const gain = { gain: 0.18, gainLow: 0.16, gainHigh: 0.21, sentence };
    const pairs = [pair("Home", "BestSellers", 90 * ms, { gain }), pair("Home", "BestSellers", 80 * ms)];
    const locks = pairLocks({ waitNs: 0, pairs, notes: [] }, "Home", "BestSellers");
    expect(locks.map((it) => it.gain)).toEqual([sentence, null]);
  });

  test("among very many types, those that wait and hold the least are merged", () => {
    const pairs = Array.from({ length: 50 }, (_, n) => pair(`w${n}`, `h${n}`, (50 - n) * ms, { count: 1 }));
    const matrix = crosstalkMatrix({ waitNs: 0, pairs, notes: [] });
    expect(matrix?.waiters.length).toBe(30);
    expect(matrix?.waiters.at(-1)).toBe(others);
    expect(matrix?.holders.at(-1)).toBe(others);
    // w29 to w49.
    expect(matrix?.cells[29]?.[29]?.count).toBe("21");
    const locks = pairLocks({ waitNs: 0, pairs, notes: [] }, others, others);
    expect(locks.length).toBe(21);
    expect(locks[0]?.types).toBe("w29 for h29");
  });

  test("nobody waited", () => {
    expect(crosstalkMatrix({ waitNs: 0, pairs: [], notes: [] })).toBeNull();
  });
});

describe("single transactions", () => {
  const slow = way("GET /buy", 40, [
    stay("shop/front", "serve", 0, 4),
    stay("mysqld/connection", "sort", 5, 30),
    stay("shop/front", "serve", 30, 40),
  ]);
  const quick = way("GET /buy", 10, [stay("shop/front", "", -1, 9)], { replied: false, beganNs: 7 * ms });
  const opened = openedOf({
    shown: shownOf({ types: [type("GET /list"), type("GET /buy")] }),
    ways: [quick, slow],
  });

  test("types that have any, and a type's transactions with the slowest first", () => {
    expect(typesWithWays(opened)).toEqual(["GET /buy"]);
    expect(waysOf(opened, "GET /buy")).toEqual([slow, quick]);
    expect(waysOf(opened, "GET /list")).toEqual([]);
    expect(plain(wayText(slow))).toBe("40.0 ms, 2 threads");
    expect(plain(wayText(quick))).toBe("10.0 ms, 1 thread, no reply");
  });

  test("a lane for each thread, in order of their first work", () => {
    const picture = wayPicture(slow);
    expect(picture.lanes.map((lane) => [lane.name, lane.bars.map((bar) => [bar.left, bar.width])])).toEqual([
      [
        "shop, front",
        [
          [0, 0.1],
          [0.75, 0.25],
        ],
      ],
      ["mysqld, connection", [[0.125, 0.625]]],
    ]);
    const [front] = picture.lanes;
    expect(front?.bars[0]?.look).toBe(front?.bars[1]?.look);
    expect(plain(front?.bars[1]?.spoken ?? "")).toBe("serve in shop, front: 10.0 ms, from 30.0 ms on");
    expect(picture.ticks.every((tick) => tick.left >= 0 && tick.left <= 1)).toBe(true);
    expect(picture.ticks.length).toBeGreaterThan(3);
  });

  test("the trace id of its request is shown", () => {
    const traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const told = " It belongs to trace 4bf92f3577b34da6a3ce929d0e0e4736, with parent span 00f067aa0ba902b7.";
    expect(wayPicture({ ...slow, traceParent }).summary).toBe(wayPicture(slow).summary + told);
  });

  test("different clocks, and stays without a name or length, stay within the picture", () => {
    const odd = wayPicture(way("x", 0, [stay("a/b", "", -1, 1), stay("a/b", "s", 1, 1)]));
    const [bars] = odd.lanes.map((lane) => lane.bars);
    expect(bars?.map((bar) => [bar.stage, bar.left, bar.width])).toEqual([
      ["not known", 0, 1],
      ["s", 1, 0],
    ]);
    expect(wayPicture(way("x", 0, [])).lanes).toEqual([]);
  });
});

describe("what is omitted", () => {
  test("the number of omitted stays, and how a type's transactions were chosen", () => {
    const cut = way("GET /buy", 10, [stay("shop/front", "serve", 0, 10)], { leftOut: 1234 });
    expect(wayPicture(cut).cut).toBe("Only its first stays are shown, 1 of 1,235.");
    expect(wayPicture({ ...cut, leftOut: 0 }).cut).toBeNull();
    const opened = openedOf({ shown: shownOf({ types: [type("GET /buy", { count: 2000 })] }), ways: [cut] });
    expect(drawnText(opened, "GET /buy")).toBe(
      "1 of 2,000 transactions can be chosen: the slowest, and a random sample of the others.",
    );
    const all = openedOf({ shown: shownOf({ types: [type("GET /buy", { count: 1 })] }), ways: [cut] });
    expect(drawnText(all, "GET /buy")).toBeNull();
  });

  test("stays keep their order across threads, so that keys can follow a transaction", () => {
    const stays = [stay("shop/front", "serve", 0, 2), stay("db/back", "sort", 2, 5), stay("shop/front", "send", 5, 6)];
    const picture = wayPicture(way("GET /buy", 6, stays));
    expect(picture.lanes.map((lane) => lane.bars.map((bar) => bar.order))).toEqual([[0, 2], [1]]);
  });
});

describe("paths to the source", () => {
  test("functions of a path are separated from the text between them", () => {
    const parts = pathParts("shop: main > std::map<a > b>::at → serve", ["main", "std::map<a > b>::at", "serve"]);
    expect(parts.map(({ text, name }) => (name === null ? text : `[${text}]`)).join("")).toBe(
      "shop: [main] > [std::map<a > b>::at] → [serve]",
    );
  });

  test("what is not in the text is omitted, and a text without functions is one part", () => {
    expect(pathParts("main > …", ["main", "deep", ""])).toEqual([
      { text: "main", name: "main" },
      { text: " > …", name: null },
    ]);
    expect(pathParts("not known", [])).toEqual([{ text: "not known", name: null }]);
  });

  test("requests and unknown frames are not functions", () => {
    expect(["serve_back", "Shop::sort"].every(isFunction)).toBe(true);
    expect(["", "…", "request", "not known", "GET /buy", "SELECT item"].some(isFunction)).toBe(false);
  });
});

describe("two runs compared", () => {
  const found = {
    types: [
      { name: "GET /buy", a: cost(40, 3), b: cost(50, 1), cpu: difference(2, 0.0001), wall: difference(-1, 0.2) },
      { name: "GET /new", a: cost(5, null), b: null, cpu: null, wall: null },
      { name: "GET /old", a: null, b: cost(7, 1), cpu: null, wall: null },
    ],
    notes: ["A: no samples."],
  };

  test("each type has the cost of a transaction on both sides, and whether the difference is noise", () => {
    const { rows } = comparedTypes("after", "before", found);
    const [buy] = rows;
    expect([buy?.countA, buy?.countB, buy?.cpuA, buy?.cpuB].map((it) => plain(it ?? ""))).toEqual([
      ...["40", "50", "3.00 ms", "1.00 ms"],
    ]);
    expect(plain(buy?.cpu.text ?? "")).toBe("+2.00 ms");
    expect([buy?.cpu.verdict, buy?.wall.verdict]).toEqual(["more", "noise"]);
    expect(plain(buy?.cpu.title ?? "")).toBe("95 % interval +1.00 ms to +3.00 ms, p < 0.001: more than noise");
    expect(rows.map((row) => row.in)).toEqual(["both", "a", "b"]);
    expect([rows[1]?.cpuA, rows[1]?.countB, rows[2]?.countA]).toEqual(["–", "–", "–"]);
  });

  test("one sentence counts the differences", () => {
    expect(plain(comparedTypes("after", "before", found).summary)).toBe(
      "1 of 3 types differ in CPU time, 1 only in A, 1 only in B.",
    );
  });
});
