/** The arithmetic of the corpora benchmark. A mistake here would invent differences, or hide them. */
import { describe, expect, it } from "vitest";
import { reason } from "../../scripts/bench/corpora/engine.mjs";
import { afterContainer, afterProcess, compareSums, sums, tidy } from "../../scripts/bench/corpora/folded.mjs";
import { compareFunctions } from "../../scripts/bench/corpora/functions.mjs";
import { methodsOf } from "../../scripts/bench/corpora/peers.mjs";
import { document, summarise } from "../../scripts/bench/corpora/report.mjs";
import { functionsOf, samplesOf } from "../../scripts/bench/corpora/snapshots.mjs";
import { rawOf } from "../../scripts/bench/corpora/tools/addresses.mjs";
import { countsOf } from "../../scripts/bench/corpora/tools/go_trace.mjs";
import { centresOf, costsReported } from "../../scripts/bench/corpora/tools/haskell.mjs";
import { sizesOf } from "../../scripts/bench/corpora/tools/heap_profile.mjs";
import { costsOf } from "../../scripts/bench/corpora/tools/hermes.mjs";
import { compareTotals, rowsOf } from "../../scripts/bench/corpora/tools/instruments.mjs";
import { snapshotsOf } from "../../scripts/bench/corpora/tools/massif.mjs";
import { stacksOfScript } from "../../scripts/bench/corpora/tools/perf.mjs";
import { stacksOf as stacksOfPerfetto } from "../../scripts/bench/corpora/tools/perfetto.mjs";
import { reportOf } from "../../scripts/bench/corpora/tools/simpleperf.mjs";
import { costsOfStacks, stacksOf } from "../../scripts/bench/corpora/tools/trees.mjs";
import { ticksOf } from "../../scripts/bench/corpora/tools/v8.mjs";
import { functionAt } from "../../scripts/bench/corpora/tools/valgrind.mjs";

describe("functions by name", () => {
  it("are compared in our unit, and only where both sides have a number", () => {
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

  it("may differ by the fractions that were truncated", () => {
    const ours = [{ name: "f", self: 997, total: 997 }];
    const theirs = [{ name: "f", self: 1, total: 1 }];
    expect(compareFunctions(ours, theirs, 1000, 3).differences).toEqual([]);
    expect(compareFunctions(ours, theirs, 1000, 2).differences).toHaveLength(2);
  });

  it("are different when only one side has them, unless they cost nothing", () => {
    const ours = [
      { name: "f", self: 1, total: 1 },
      { name: "idle", self: 0, total: 0 },
    ];
    expect(compareFunctions(ours, [], 1).differences).toHaveLength(2);
    expect(compareFunctions([], [{ name: "g", self: 2, total: 2 }], 1).differences).toHaveLength(2);
  });

  it("that share a name add up in own cost, and their totals are not compared", () => {
    const ours = [{ name: "f", self: 5, total: 9 }];
    const theirs = [
      { name: "f", self: 2, total: 9 },
      { name: "f", self: 3, total: 7 },
    ];
    expect(compareFunctions(ours, theirs, 1)).toEqual({ numbers: 1, differences: [] });
  });
});

describe("folded stacks", () => {
  it("are equal without what each side adds to names and stacks", () => {
    const theirs = sums("dd-1/2;[unknown];read_[k];f 5\ndd-1/2;h 1\n", afterProcess);
    const ours = sums(
      "dd (1/2);[libc.so];read(int);f 2\ndd (1/2);[libm.so];read(char);f 3\ndd (1/2);h 1\n",
      afterContainer,
    );
    expect(compareSums(ours, theirs)).toEqual({ numbers: 2, differences: [] });
  });

  it("differ when one side has more", () => {
    const { differences } = compareSums(new Map([["a", 1]]), new Map([["a", 2]]));
    expect(differences).toEqual(["a: 1, the peer says 2"]);
  });

  it("lose arguments, but not Go methods or anonymous namespaces", () => {
    expect(tidy("f(int)::g")).toBe("f");
    expect(tidy("net/http.(*Client).Do")).toBe("net/http.(*Client).Do");
    expect(tidy("(anonymous namespace)::f(int)")).toBe("(anonymous namespace)::f");
    expect(tidy("Ljava/lang/Thread;:.run_[j]")).toBe("java/lang/Thread;:.run");
  });
});

describe("the output of peers", () => {
  it("is read from pprof's samples, with addresses as bytes of files", () => {
    const text =
      "PeriodType: \nSamples:\nobjects/count space/bytes\n   1   20: 1 2 \n   3  -40: 2 \nLocations\n" +
      "     1: 0x405 M=1 \n     2: 0x9 M=2 \nMappings\n1: 0x400/0x500/0x10 /bin/app  \n2: 0x0/0x100/0x0   \n";
    const { samples, names } = rawOf(text);
    expect(samples).toEqual([
      { values: [1, 20], locations: [1, 2] },
      { values: [3, -40], locations: [2] },
    ]);
    expect([...names]).toEqual([
      [1, ["0x15 (app)"]],
      [2, ["0x9"]],
    ]);
  });

  it("is read from ms_print's trees of callers", () => {
    const text = [
      " Detailed snapshots: [1 (peak)]",
      "  1    110,558,310          1,100            1,000             100            0",
      "90.91% (1,000B) (heap allocation functions) malloc/new/new[], --alloc-fns, etc.",
      "->54.55% (600B) 0x10: leaf(int) (a.c:3)",
      "| ->54.55% (600B) 0x20: main (a.c:9)",
      "|   ",
      "->36.36% (400B) in 2 places, all below massif's threshold (1.00%)",
    ].join("\n");
    expect(snapshotsOf(text).get("peak")).toEqual({
      heap: 1000,
      functions: [
        { name: "leaf(int)", self: 600, total: 600 },
        { name: "main", self: 0, total: 600 },
        { name: "[below threshold]", self: 400, total: 400 },
      ],
    });
  });

  it("writes locations as Valgrind does", () => {
    expect(functionAt("0x1091c9: f(int) (a.cpp:4)")).toBe("f(int)");
    expect(functionAt("0x48F: operator()(int)")).toBe("operator()(int)");
    expect(functionAt("0x048F: ??? (in /lib/libc.so.6)")).toBe("0x48F (libc.so.6)");
  });

  it("counts a recursive function once in a stack", () => {
    const trees = [
      { name: "f", cost: 5, callers: [{ name: "f", cost: 5, callers: [{ name: "g", cost: 3, callers: [] }] }] },
    ];
    expect(costsOfStacks(stacksOf(trees))).toEqual([
      { name: "f", self: 5, total: 5 },
      { name: "g", self: 0, total: 3 },
    ]);
  });

  it("is read from perf's stacks, outermost first", () => {
    const text =
      "  250 \n\t  1a f (/bin/app)\n\t  2b [unknown] (/lib/libc.so.6)\n\n  250 \n\t  1a f (/bin/app)\n\t  2c [unknown] (/lib/libc.so.6)\n";
    expect([...stacksOfScript(text)]).toEqual([["[libc.so.6];f", 500]]);
    const ended = " 250 \n\t  1a f (/bin/app)\n\tffffffffffffffff [unknown] ([unknown])\n";
    expect([...stacksOfScript(ended)]).toEqual([["f", 250]]);
  });

  it("is read from Perfetto's summary, in which each node names its caller", () => {
    const hex = (text: string) => Buffer.from(text).toString("hex").toUpperCase();
    const rows = [
      '"id","parent","cost","name","file"',
      `0,-1,0,"${hex("main")}","${hex("/bin/app")}"`,
      `1,0,2,"${hex('f, "g"')}","${hex("/bin/app")}"`,
      `2,1,1,"${hex("unknown")}","${hex("/lib/libc.so.6")}"`,
      `-2,-1,3,"${hex("[no stack]")}",""`,
    ];
    expect(stacksOfPerfetto(rows.join("\n"))).toEqual([
      { frames: ['f, "g"', "main"], cost: 2 },
      { frames: ["[libc.so.6]", 'f, "g"', "main"], cost: 1 },
      { frames: ["[no stack]"], cost: 3 },
    ]);
  });

  it("is read from the folded stacks of Go's samples", () => {
    const text = "main.main;main.work[go.shape.int] 2\n[no stack] 1\n[truncated];main.down;main.down 3\n";
    const expected = [
      ["main.main;main.work[go.shape.int]", 2],
      ["", 1],
      ["main.down;main.down", 3],
    ];
    expect([...countsOf(text)]).toEqual(expected);
  });

  it("is read from simpleperf's report", () => {
    const text =
      "meta_info:\n  event_type: cpu-clock\nsample 1:\n  event_type_id: 0\n  time: 1\n  event_count: 250\n  thread_id: 7\n  callchain:\n" +
      "    vaddr_in_file: 1\n    file_id: 0\n    symbol_id: 1\n    vaddr_in_file: 2\n    file_id: 0\n    symbol_id: -1\n" +
      "file:\n  id: 0\n  path: /lib/libc.so\n  symbol: open\n  symbol: read\n";
    expect(reportOf(text)).toEqual({
      events: ["cpu-clock"],
      samples: [{ event: 0, count: 250, frames: ["read", "[libc.so]"] }],
    });
  });

  it("is read from node's tick table", () => {
    const text =
      "Statistical profiling result from v8.log, (9 ticks, 2 unaccounted, 0 excluded).\n\n [Shared libraries]:\n   ticks  total  nonlib   name\n" +
      '      3   33.3%          "/usr/bin/node"\n\n [JavaScript]:\n   ticks  total  nonlib   name\n      2   22.2%   30.0%  JS: ^scan /a/_tsc.js:9:16\n' +
      "      1   11.1%   15.0%  JS: * /a/_tsc.js:8:2\n\n [C++]:\n   ticks  total  nonlib   name\n      1   11.1%   15.0%  f(int, char)\n\n";
    expect(ticksOf(text)).toEqual([
      { name: "[node]", self: 3 },
      { name: "scan", self: 2 },
      { name: "(anonymous) _tsc.js:8:2", self: 1 },
      { name: "f(int, char)", self: 1 },
      { name: "[unknown]", self: 2 },
    ]);
  });

  it("is summed over Instruments' rows", () => {
    const own =
      "Weight\tSelf Weight\tSymbol Names\n4.50 s  100.0%\t-\tmain\n1.50 s  33.3%\t1.50 s\t f\n3.00 s  66.7%\t3.00 s\t g\n";
    expect(rowsOf(own).map(({ self }) => self)).toEqual([0, 1.5e9, 3e9]);
    const bytes = "Bytes Used\tCount\t\tSymbol Name\n 3.00 MB  100.0%\t9\t \tmain\n 2.00 MB  66.7%\t4\t \t f\n";
    expect(rowsOf(bytes).map(({ name, self }) => ({ name, self }))).toEqual([
      { name: "main", self: 2 ** 20 },
      { name: "f", self: 2 ** 21 },
    ]);
  });

  it("is compared row by row with Instruments' totals, within their rounding", () => {
    const text =
      "Weight\tSelf Weight\tSymbol Names\n4.51 s  100.0%\t-\tmain\n4.51 s  99.9%\t1.504 s\t f\n3.00 s  66.7%\t3.004 s\t  g\n";
    const compare = (folded: string) => compareTotals(folded, rowsOf(text));
    expect(compare("main;f 1504000000\nmain;f;g 3004000000\n")).toEqual({ numbers: 3, differences: [] });
    const { differences } = compare("main;f 1504000000\nmain;f;g 3104000000\nmain;h 20000000\n");
    expect(differences.map((it) => it.replace(/,.*/, ""))).toEqual(["main", "main;f", "main;f;g", "main;h"]);
  });

  it("is summed along GHC's tree of cost centres", () => {
    const node = (id: number, ticks: number, children: unknown[] = []) => ({ id, ticks, children });
    const centres = [
      { id: 1, module: "Main", label: "main" },
      { id: 2, module: "Main", label: "go" },
    ];
    expect(centresOf({ cost_centres: centres, profile: node(1, 1, [node(2, 2, [node(2, 3)])]) }, "ticks")).toEqual([
      { name: "Main.main", self: 1, total: 6 },
      { name: "Main.go", self: 5, total: 5 },
    ]);
  });

  it("is summed over all lines of GHC's report, whose sources may have spaces", () => {
    const report = [
      "COST CENTRE MODULE SRC               no. entries %time %alloc %time %alloc ticks bytes",
      "MAIN        MAIN   <built-in>        137       0   0.0    0.0 100.0  100.0     0   944",
      " f          Main   <no location info> 12       1   0.0    0.0   0.0    0.0     2    40",
      "  f         Main   Main.hs:(1,2)-(3,4) 13       2   0.0    0.0   0.0    0.0     1     2",
    ].join("\n");
    const { entries, alloc } = costsReported(report);
    expect([...entries]).toEqual([
      ["MAIN.MAIN", 0],
      ["Main.f", 3],
    ]);
    expect([...alloc]).toEqual([
      ["MAIN.MAIN", 944],
      ["Main.f", 42],
    ]);
  });

  it("is summed along V8's allocation tree", () => {
    const node = (functionName: string, selfSize: number, children: unknown[] = []) => ({
      callFrame: { functionName, url: "a.js", lineNumber: 1, columnNumber: 2 },
      selfSize,
      children,
    });
    expect(sizesOf(node("(root)", 0, [node("f", 2, [node("f", 3)])]))).toEqual([{ name: "f", self: 5, total: 5 }]);
  });

  it("is counted from jfr's stacks, a method once in each", () => {
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
  it("has a row for each format, with downloaded recordings and our own", () => {
    const row = { absent: false, kind: "massif", differences: [] };
    const parts = [
      {
        corpus: { name: "A", peer: "p" },
        revision: "1",
        rows: [{ ...row, corpus: "A", path: "a", numbers: 7, tool: "ms_print" }],
      },
      {
        corpus: { name: "recorded", peer: "q" },
        rows: [{ ...row, corpus: "recorded", path: "b", numbers: 2, tool: "ms_print" }],
      },
    ];
    // biome-ignore lint/suspicious/noExplicitAny: only what the table needs
    const text = document(parts as any, "today");
    expect(text).toContain("| massif | 1 | 1 | 9 | 0 | ms_print |");
    expect(text).toContain("| DHAT | 0 | 0 | 0 | 0 |  |");
    expect(text).toContain("Measured today. Commits: A 1.");
  });

  it("shortens reasons to what differs between them", () => {
    const why =
      'fulcrum: /a/b.txt:1: the first record is "x", expected a profile; open pprof, folded stacks, perf.data.\n';
    expect(reason(why, "/a/b.txt")).toBe('1: the first record is "x", expected a profile');
    expect(reason("fulcrum: /a/b.txt, byte 0: this is data, expected a profile; unpack it.", "/a/b.txt")).toBe(
      "byte 0: this is data, expected a profile; unpack it",
    );
  });

  it("counts only files that are present", () => {
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

describe("the output of Hermes's transformer", () => {
  it("is the time between begin and end events; recursion counts once, from the outermost call", () => {
    const event = (ph: "B" | "E", ts: number, url: string) => ({ ph, ts, args: { url } });
    const events = [
      event("B", 10, "f"),
      event("B", 12, "g"),
      event("B", 13, "f"),
      event("E", 17, "f"),
      event("E", 17, "g"),
      event("E", 20, "f"),
      event("B", 25, ""),
      event("E", 26, ""),
    ];
    expect(costsOf(events)).toEqual([
      { name: "f", self: 9, total: 10 },
      { name: "g", self: 1, total: 5 },
      { name: "[unknown]", self: 1, total: 1 },
    ]);
  });
});
