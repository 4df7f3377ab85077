/** What the bookstore's benchmark predicts from a run without its repairs. */
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { cache, pages, shares } from "../../scripts/bench/bookstore/predictions.mjs";
import { freePorts } from "../../scripts/bench/lib/ports.mjs";

/** A page that took 100 ms. */
const asked = (name: string, query: string, from: number) => ({ name, query, from, to: from + 100 });

test("a result is found kept from when it was found until half a minute later", () => {
  const at = (...froms: number[]) =>
    shares(froms.map((from) => asked("BestSellers", "subject=ARTS", from))).get("BestSellers");
  expect(at(0)).toBe(0);
  // The second asks before the first has its result, and the third when it has.
  expect(at(0, 99)).toBe(0);
  expect(at(0, 100)).toBe(0.5);
  expect(at(0, 100 + 29_999)).toBe(0.5);
  expect(at(0, 100 + 30_000)).toBe(0);
  // What is found again is kept again, from then on.
  expect(at(0, 30_100, 60_000)).toBeCloseTo(1 / 3);
});

test("searches by title and author are kept for ever, those by subject are not", () => {
  const later = (query: string) =>
    shares([asked("SearchResults", query, 0), asked("SearchResults", query, 1e9)]).get("SearchResults");
  expect(later("by=title&for=sea")).toBe(0.5);
  expect(later("by=author&for=sea")).toBe(0.5);
  expect(later("by=subject&for=by=title&")).toBe(0);
});

test("what was asked is kept by interaction and query, in the order of time", () => {
  const all = shares([
    asked("BestSellers", "subject=ARTS", 500),
    asked("NewProducts", "subject=ARTS", 700),
    asked("BestSellers", "subject=HEALTH", 800),
    asked("BestSellers", "subject=ARTS", 0),
  ]);
  expect(Object.fromEntries(all)).toEqual({ BestSellers: 1 / 3, NewProducts: 0 });
});

test("the database's work is skipped for each interaction's share", () => {
  expect(cache([asked("BestSellers", "subject=ARTS", 0), asked("BestSellers", "subject=ARTS", 200)])).toEqual([
    "--skip",
    "GET /bookstore/bestsellers=0.5000",
    "--in",
    "mariadbd",
  ]);
});

test("times of pages are in milliseconds, now or predicted", () => {
  const types = [
    {
      name: "GET /bookstore/home",
      count: 4,
      cpuNs: 8e6,
      predictedCpuNs: 4e6,
      now: { mean: { ns: 5e6 }, p95: { ns: 9e6 } },
      predicted: { mean: { ns: 3e6, lowNs: 2e6, highNs: 4e6 }, p95: { ns: 6e6, lowNs: 5e6, highNs: 7e6 } },
    },
  ];
  expect(pages({ types }, "now")).toEqual({
    "GET /bookstore/home": { mean: { value: 5, low: 5, high: 5 }, p95: { value: 9, low: 9, high: 9 }, cpu: 2 },
  });
  expect(pages({ types }, "predicted")).toEqual({
    "GET /bookstore/home": { mean: { value: 3, low: 2, high: 4 }, p95: { value: 6, low: 5, high: 7 }, cpu: 1 },
  });
});

test("free ports follow each other, and nobody listens there", async () => {
  const [first = 0] = await freePorts(1);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(first, "127.0.0.1", resolve));
  // The first draw leads to the taken port, the second one elsewhere.
  const draws = [(first - 10_000) / (22_000 - 2), 0.5];
  const ports = await freePorts(2, () => draws.shift() ?? Math.random());
  await new Promise((resolve) => server.close(resolve));
  expect(ports).not.toContain(first);
  expect(ports[1]).toBe((ports[0] ?? 0) + 1);
  expect(ports.every((port) => port >= 10_000 && port < 32_000)).toBe(true);
});
