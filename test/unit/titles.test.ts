import { expect, test } from "vitest";
import { cutNames, shortTitle, titleHover } from "../../extension/core/titles";

const long = "checkout-service-with-cache-2026-11-21.pb.gz − checkout-service-with-cache-2026-11-20.pb.gz";

test("what is too long loses the middle of each name", () => {
  expect(shortTitle("a.folded − b.folded", 40)).toBe("a.folded − b.folded");
  expect(shortTitle(long, 43)).toBe("checkout-s…-21.pb.gz − checkout-s…-20.pb.gz");
  expect(shortTitle(`short − ${"x".repeat(50)}yz`, 30)).toBe("short − xxxxxxxxxx…xxxxxxxxyz");
  expect(shortTitle("an-only-profile-with-a-long-name.pb.gz", 21)).toBe("an-only-pr…name.pb.gz");
  for (const most of [3, 10, 30, 60]) {
    expect(shortTitle(long, most).length).toBeLessThanOrEqual(Math.max(most, 9));
  }
});

test("in a page a name's beginning gives way to its end, and nothing is lost of the whole", () => {
  expect(cutNames("a.folded − checkout-service.pb.gz")).toEqual([
    { head: "", tail: "a.folded" },
    { head: "checkout-ser", tail: "vice.pb.gz" },
  ]);
  const together = cutNames(long).map(({ head, tail }) => head + tail);
  expect(together.join(" − ")).toBe(long);
});

test("who points at it reads both sides", () => {
  expect(titleHover("after − before")).toBe("A: after\nB: before, the base\nDifferences are A − B.");
  expect(titleHover("cpu.pb.gz")).toBe("cpu.pb.gz");
});
