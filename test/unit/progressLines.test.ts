import { describe, expect, test } from "vitest";
import {
  linesOfProgram,
  locationOf,
  moved,
  pointsIn,
  renamed,
  toggled,
  without,
} from "../../extension/core/causal/progressLines";

const at = (file: string, line: number) => ({ file, line });
const typed = (startLine: number, text: string, endLine = startLine) => ({
  ...{ startLine, startCharacter: 3, endLine, text },
});

test("a line is toggled on and off", () => {
  const once = toggled([at("/p/a.rs", 3)], at("/p/a.rs", 7));
  expect(once).toEqual([at("/p/a.rs", 3), at("/p/a.rs", 7)]);
  expect(toggled(once, at("/p/a.rs", 3))).toEqual([at("/p/a.rs", 7)]);
});

test("lines move with their code during typing, only in the edited file", () => {
  const lines = [at("/p/a.rs", 3), at("/p/b.rs", 3)];
  expect(moved(lines, "/p/a.rs", [typed(1, "x\ny\n")])).toEqual([at("/p/b.rs", 3), at("/p/a.rs", 5)]);
  expect(moved(lines, "/p/a.rs", [typed(5, "x\n")])).toBe(lines);
  // Two that end up on one line become one.
  expect(moved([at("/p/a.rs", 3), at("/p/a.rs", 4)], "/p/a.rs", [typed(2, "", 6)])).toHaveLength(1);
});

test("lines follow renamed files and folders, and disappear with deleted ones", () => {
  const lines = [at("/p/src/a.rs", 1), at("/p/src2/b.rs", 2)];
  expect(renamed(lines, "/p/src", "/p/lib")).toEqual([at("/p/lib/a.rs", 1), at("/p/src2/b.rs", 2)]);
  expect(without(lines, "/p/src")).toEqual([at("/p/src2/b.rs", 2)]);
  expect(without(lines, "/p/src2/b.rs")).toEqual([at("/p/src/a.rs", 1)]);
});

test("the engine gets a line with enough of its path to find the file", () => {
  expect(locationOf(at("/p/shop/src/lib.rs", 41), "/p/shop")).toBe("shop/src/lib.rs:42");
  expect(locationOf(at("/else/x.c", 0), "/p/shop")).toBe("/else/x.c:1");
});

test("a program gets the lines of its own files", () => {
  const lines = [at("/p/server.cpp", 1), at("/p/client.cpp", 2)];
  expect(linesOfProgram(lines, (text) => text === "client.cpp")).toEqual([lines[1]]);
  expect(linesOfProgram(lines, () => false)).toEqual(lines);
});

describe("progress points in the source", () => {
  const cpp =
    '#include "fulcrum.h"\n#define X FULCRUM_PROGRESS\n  FULCRUM_PROGRESS;\n// FULCRUM_BEGIN\nCOZ_END("x");\n';
  const rust =
    'use fulcrum_progress::progress;\nprogress!();\n  fulcrum_progress::scope!("x");\n// fulcrum_progress::end!\n';
  test.each([
    ["cpp", cpp, [2, 4]],
    ["c", cpp, [2, 4]],
    ["rust", rust, [1, 2]],
    ["cpp", "MY_FULCRUM_PROGRESS;\n", []],
  ] as const)("%s", (language, text, lines) => {
    expect(pointsIn(text, language)).toEqual(lines);
  });
});
