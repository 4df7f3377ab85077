/** The table of memory for damaged recordings: a mistake here would hide a reader that needs too much. */
import { describe, expect, it } from "vitest";
import { damageReport, isTooMuch } from "../../scripts/bench/damage/report.mjs";

const mebibyte = 1 << 20;
const row = { corpus: "pprof", path: "a.pb.gz", whole: mebibyte, copies: 48, read: 8 };

describe("damage", () => {
  it("a copy may need ten times the memory of the whole file, and less than a mebibyte is never too much", () => {
    expect(isTooMuch({ ...row, most: 10 * mebibyte, how: "the first 3 bytes" })).toBe(false);
    expect(isTooMuch({ ...row, most: 10 * mebibyte + 1, how: "the first 3 bytes" })).toBe(true);
    expect(isTooMuch({ ...row, whole: 100, most: mebibyte, how: "the first 3 bytes" })).toBe(false);
  });

  it("a line has the worst file of its corpus", () => {
    const rows = [
      { ...row, most: 3 * mebibyte, how: "a bit of byte 1" },
      { ...row, path: "b.pb.gz", whole: 4 * mebibyte, most: 2 * mebibyte, how: "the first 1 bytes" },
      { ...row, corpus: "JMC", path: "c.jfr", whole: 10, most: 100, how: "the first 1 bytes" },
    ];
    const text = damageReport(rows, "today");
    expect(text).toContain("| pprof | 2 | 96 | 16 | 80 | 3.0 | 4.2 MB |");
    expect(text).toContain("| JMC | 1 | 48 | 8 | 40 | – | 0.0 MB |");
    expect(text).toContain("| **together** | 3 | 144 | 24 | 120 | 3.0 | 4.2 MB |");
  });
});
