/** The corpora's arithmetic: what a difference that is none, or one that is overlooked, would come from. */
import { describe, expect, it } from "vitest";
import { reason } from "../../scripts/bench/corpora/engine.mjs";
import { afterContainer, afterProcess, compareSums, sums, tidy } from "../../scripts/bench/corpora/folded.mjs";
import { compareFunctions } from "../../scripts/bench/corpora/functions.mjs";
import { methodsOf, rawTotals } from "../../scripts/bench/corpora/peers.mjs";
import { summarise } from "../../scripts/bench/corpora/report.mjs";
import { functionsOf, samplesOf } from "../../scripts/bench/corpora/snapshots.mjs";

describe("functions by name", () => {
  it("are compared in our unit, and only where both know a number", () => {
    const ours = [
      { name: "f", self: 3_000, total: 9_000 },
      { name: "g", self: 6_000, total: 6_000 },
    ];
    const theirs = [
      { name: "f", self: 3, total: 8 },
      { name: "g", self: 6 },
    ];
    const { numbers, differences } = compareFunctions(ours, theirs, 1000);
    expect(numbers).toBe(3);
    expect(differences).toEqual(["f, total: 9000, the peer says 8000"]);
  });

  it("may be less by the fractions that were cut off", () => {
    const ours = [{ name: "f", self: 997, total: 997 }];
    const theirs = [{ name: "f", self: 1, total: 1 }];
    expect(compareFunctions(ours, theirs, 1000, 3).differences).toEqual([]);
    expect(compareFunctions(ours, theirs, 1000, 2).differences).toHaveLength(2);
  });

  it("that only one side has are different, unless they cost nothing", () => {
    const ours = [
      { name: "f", self: 1, total: 1 },
      { name: "idle", self: 0, total: 0 },
    ];
    expect(compareFunctions(ours, [], 1).differences).toHaveLength(2);
    expect(compareFunctions([], [{ name: "g", self: 2, total: 2 }], 1).differences).toHaveLength(2);
  });

  it("of one name are several, whose own costs have a sum and whose totals have none", () => {
    const ours = [{ name: "f", self: 5, total: 9 }];
    const theirs = [
      { name: "f", self: 2, total: 9 },
      { name: "f", self: 3, total: 7 },
    ];
    expect(compareFunctions(ours, theirs, 1)).toEqual({ numbers: 1, differences: [] });
  });
});

describe("folded stacks", () => {
  it("are the same whatever each side adds to names and stacks", () => {
    const theirs = sums("dd-1/2;[unknown];read_[k];f 5\ndd-1/2;h 1\n", afterProcess);
    const ours = sums(
      "dd (1/2);[libc.so];read(int);f 2\ndd (1/2);[libm.so];read(char);f 3\ndd (1/2);h 1\n",
      afterContainer,
    );
    expect(compareSums(ours, theirs)).toEqual({ numbers: 2, differences: [] });
  });

  it("differ where one has more", () => {
    const { differences } = compareSums(new Map([["a", 1]]), new Map([["a", 2]]));
    expect(differences).toEqual(["a: 1, the peer says 2"]);
  });

  it("lose arguments, not methods of Go or namespaces without a name", () => {
    expect(tidy("f(int)::g")).toBe("f");
    expect(tidy("net/http.(*Client).Do")).toBe("net/http.(*Client).Do");
    expect(tidy("(anonymous namespace)::f(int)")).toBe("(anonymous namespace)::f");
    expect(tidy("Ljava/lang/Thread;:.run_[j]")).toBe("java/lang/Thread;:.run");
  });
});

describe("what peers print", () => {
  it("is added up from pprof's samples", () => {
    const text =
      "PeriodType: \nSamples:\nobjects/count space/bytes\n   1   20: 1 2 \n   3  -40: 2 \nLocations\n  1: 0x5\n";
    expect(rawTotals(text)).toEqual([4, -20]);
  });

  it("is counted from jfr's stacks, a method once each", () => {
    const frame = (type: string, name: string) => ({ method: { type: { name: type }, name } });
    const events = [
      { values: { stackTrace: { frames: [frame("a/B", "f"), frame("a/B", "g"), frame("a/B", "f")] } } },
      { values: { stackTrace: { frames: [{ method: null }, frame("a/B", "g")] } } },
      { values: { stackTrace: null } },
    ];
    expect(methodsOf({ recording: { events } })).toEqual([
      { name: "a.B.f", self: 1, total: 1 },
      { name: "a.B.g", self: 0, total: 2 },
    ]);
  });

  it("is read from speedscope's tests and their snapshots", () => {
    const tests = "test('simple one', async () => {\n  await checkProfileSnapshot('./sample/a.txt')\n})\n";
    expect([...samplesOf(tests)]).toEqual([["sample/a.txt", "simple one"]]);
    const frame = (name: string, self: number, total: number) =>
      `    Frame {\n      "col": 1,\n      "name": "${name}",\n      "selfWeight": ${self},\n      "totalWeight": ${total},\n    },\n`;
    const snapshot = (number: number, frames: string) =>
      `exports[\`simple one ${number}\`] = \`\n{\n  "frames": [\n${frames}  ],\n}\n\`;\n`;
    const text = snapshot(1, frame('a \\\\"b\\\\"', 1, 2.5)) + snapshot(2, frame("a", 3, 3));
    expect(functionsOf(text, "simple one")).toEqual([
      { name: 'a "b"', self: 1, total: 2.5 },
      { name: "a", self: 3, total: 3 },
    ]);
  });
});

describe("the table", () => {
  it("has reasons without what is the same in all of them", () => {
    const why =
      'fulcrum: /a/b.txt:1: the first record is "x", expected a profile; open pprof, folded stacks, perf.data.\n';
    expect(reason(why, "/a/b.txt")).toBe('1: the first record is "x", expected a profile');
    expect(reason("fulcrum: /a/b.txt, byte 0: this is data, expected a profile; unpack it.", "/a/b.txt")).toBe(
      "byte 0: this is data, expected a profile; unpack it",
    );
  });

  it("counts what is there", () => {
    const row = { corpus: "x", absent: false };
    expect(
      summarise([
        { ...row, path: "a", notes: 1, numbers: 7, differences: ["d"] },
        { ...row, path: "b", notes: 0, numbers: 0, differences: [], why: "no peer" },
        { ...row, path: "c", refused: "damaged" },
        { ...row, path: "d", absent: true },
      ]),
    ).toEqual({ files: 3, absent: 1, read: 2, refused: 1, notes: 1, compared: 1, numbers: 7, differences: 1 });
  });
});
