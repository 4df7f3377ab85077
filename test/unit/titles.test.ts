import { expect, test } from "vitest";
import { cutNames, shortTitle, titleHover } from "../../extension/core/profiles/titles";

const long = "checkout-service-with-cache-2026-11-21.pb.gz − checkout-service-with-cache-2026-11-20.pb.gz";

test("long names lose what they have in common, and keep what distinguishes them", () => {
  expect(shortTitle("a.folded − b.folded", 40)).toBe("a.folded − b.folded");
  expect(shortTitle(long, 43)).toBe("checkout-se…21.pb.gz − checkout-se…20.pb.gz");
  const changed = (when: string) => `server-${when}-the-change-of-the-allocator.folded`;
  expect(shortTitle(`${changed("before")} − ${changed("after")}`, 48)).toBe(
    "server-before…r.folded − server-after…or.folded",
  );
  expect(shortTitle("an-only-profile-with-a-long-name.pb.gz", 21)).toBe("an-only-pr…name.pb.gz");
  for (const most of [3, 10, 30, 60]) {
    expect(shortTitle(long, most).length).toBeLessThanOrEqual(Math.max(most, 9));
  }
});

test("long names with nothing in common lose their middles", () => {
  expect(shortTitle(`short − ${"x".repeat(50)}yz`, 30)).toBe("short − xxxxxxxxxx…xxxxxxxxyz");
});

test("in a page, the common parts of names shrink, and the text keeps the whole names", () => {
  expect(cutNames("a.folded − checkout-service.pb.gz")).toEqual([
    { head: "", kept: "a.folded", tail: "" },
    { head: "checkout-ser", kept: "vice.pb.gz", tail: "" },
  ]);
  expect(cutNames("minute-1.folded − minute-12.folded")).toEqual([
    { head: "minute-", kept: "1", tail: ".folded" },
    { head: "minute-", kept: "12", tail: ".folded" },
  ]);
  expect(cutNames("checkout-service.pb.gz")).toEqual([{ head: "checkout-ser", kept: "vice.pb.gz", tail: "" }]);
  const together = cutNames(long).map(({ head, kept, tail }) => head + kept + tail);
  expect(together.join(" − ")).toBe(long);
});

test("two equal names keep their ends", () => {
  const [a, b] = cutNames("profile.pb.gz − profile.pb.gz");
  expect([a, b].map((it) => `${it?.head}${it?.kept}${it?.tail}`)).toEqual(["profile.pb.gz", "profile.pb.gz"]);
});

test("the hover names both sides", () => {
  expect(titleHover("after − before")).toBe("A: after\nB: before, the base\nDifferences are A − B.");
  expect(titleHover("cpu.pb.gz")).toBe("cpu.pb.gz");
});
