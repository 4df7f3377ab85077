/** How panels of one or two runs read the state that their pages have saved. */
import { expect, test } from "vitest";
import { isPair, isSamePair, keptPair, keptRun, swapped } from "../../extension/core/runs/pair";

const pair = { before: "/w/a", after: "/w/b" };

test("a pair is restored without other saved state", () => {
  expect(keptPair({ ...pair, scroll: 7 })).toEqual(pair);
  expect([undefined, null, "x", {}, { before: "/w/a" }, { before: 1, after: 2 }].map(keptPair)).toEqual(
    Array.from({ length: 6 }, () => undefined),
  );
});

test("a run is restored from its path", () => {
  expect(keptRun({ run: "/w/a" })).toBe("/w/a");
  expect([undefined, null, {}, { run: 1 }].map(keptRun)).toEqual([undefined, undefined, undefined, undefined]);
});

test("swapping twice changes nothing", () => {
  expect(swapped(pair)).toEqual({ before: "/w/b", after: "/w/a" });
  expect(isSamePair(swapped(swapped(pair)), pair)).toBe(true);
  expect(isSamePair(swapped(pair), pair)).toBe(false);
  expect([isPair(pair), isPair("/w/a")]).toEqual([true, false]);
});
