/** The README is true: its code is the sample's, its text has the numbers of its table, and it works for unknown source code. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(__dirname, "../..");
const readme = readFileSync(path.join(root, "README.md"), "utf8");
const sample = readFileSync(path.join(root, "samples/two-threads/two-threads.cpp"), "utf8").split("\n");

test("lines quoted by number are those lines of the sample, with the lines around them", () => {
  const block = /```cpp\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const shown = block.trimEnd().split("\n");
  const numbered = shown.flatMap((text, at) => {
    const number = /\/\/ line (\d+)/.exec(text)?.[1];
    return number === undefined ? [] : [{ at, number: Number(number) }];
  });
  expect(numbered.map(({ number }) => number)).toEqual([11, 17]);
  const code = (text = "") => text.replace(/\s*\/\/.*$/, "").trimEnd();
  for (const { at, number } of numbered) {
    for (let n = -2; n <= 2; n += 1) {
      expect(code(shown[at + n]), `line ${number + n}`).toBe(code(sample[number + n - 1]));
    }
  }
});

test("the text has the numbers of the table above it", () => {
  const rows = [...readme.matchAll(/two-threads\.cpp:(\d+) +([+−][\d.]+ %) +\(([+−][\d.]+)…([+−][\d.]+)\)/g)];
  expect(rows.map(([, line]) => line)).toEqual(["11", "17"]);
  const [, , gain = "", low = "", high = ""] = rows[0] ?? [];
  const prose = /\*\*Line 11\*\*:([\s\S]*?)\n- \*\*Line 17/.exec(readme)?.[1]?.replace(/\s+/g, " ") ?? "";
  expect(prose).toContain(`would take ${gain.slice(1)} less time`);
  expect(prose).toContain(`interval from ${low.slice(1)} % to ${high.slice(1)} %`);
  // The real gain is within the interval, and is explained.
  expect(prose).toContain("4.8 % (1 − 1/1.05)");
  expect(Number(low)).toBeLessThan(4.8);
  expect(Number(high)).toBeGreaterThan(4.8);
});

test("the README names the options that need no change to the source", () => {
  for (const option of ["--progress", "--end-to-end"]) {
    expect(readme).toContain(`fulcrum run ${option}`);
  }
});
