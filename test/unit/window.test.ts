/** Which results are decorated. */
import { expect, test } from "vitest";
import { covers, onLine, spansAround, within } from "../../extension/core/causal/window";

const all = Array.from({ length: 22_000 }, (_, line) => ({ line }));

test("in a file of 22,000 lines only what is near the screen is decorated", () => {
  const painted = within(all, spansAround([{ first: 10_000, last: 10_050 }]));
  expect([painted[0]?.line, painted.at(-1)?.line, painted.length]).toEqual([9_800, 10_250, 451]);
  expect(within(all, spansAround([{ first: 0, last: 40 }])).length).toBe(241);
  // The folded lines in between are not visible.
  const folded = spansAround([
    { first: 20_000, last: 20_010 },
    { first: 0, last: 10 },
  ]);
  expect(folded).toEqual([
    { first: 0, last: 210 },
    { first: 19_800, last: 20_210 },
  ]);
  expect(
    spansAround([
      { first: 0, last: 10 },
      { first: 300, last: 310 },
    ]),
  ).toEqual([{ first: 0, last: 510 }]);
});

test("scrolling decorates further lines before the undecorated ones become visible", () => {
  const painted = spansAround([{ first: 1000, last: 1050 }]);
  expect(covers(painted, [{ first: 1100, last: 1150 }])).toBe(true);
  expect(covers(painted, [{ first: 1160, last: 1210 }])).toBe(false);
  expect(covers(painted, [{ first: 800, last: 850 }])).toBe(false);
  // Above the first line there is nothing to decorate.
  expect(covers(spansAround([{ first: 0, last: 50 }]), [{ first: 0, last: 50 }])).toBe(true);
});

test("a line can have several results, or none", () => {
  const lines = [{ line: 1 }, { line: 4 }, { line: 4 }, { line: 9 }];
  expect(onLine(lines, 4).length).toBe(2);
  expect(onLine(lines, 5)).toEqual([]);
});
