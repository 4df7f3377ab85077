/** Recognises profiles by the beginning of the file. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { beginsLikeProfile, headLength } from "../../extension/core/profiles/profileContent";

const bytes = (text: string) => new Uint8Array(Buffer.from(text, "utf8"));
/** A sample type of pprof: type 1, unit 2. */
const pprof = new Uint8Array([0x0a, 0x04, 0x08, 0x01, 0x10, 0x02, 0x12, 0x00]);

const profiles: Record<string, string> = {
  "Chrome trace": '{"displayTimeUnit":"ms","traceEvents":[{"ph":"X","ts":1}]}',
  "Chrome trace as a list": '[\n{"name":"a","ph":"B","ts":1,"pid":1,"tid":1}',
  cpuprofile: '{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}}]',
  heapprofile: '{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0}}',
  speedscope: '{"exporter":"x","shared":{"frames":[{"name":"a"}]},"profiles":[]}',
  Firefox: '{"meta":{"interval":1,"startTime":0,"processType":0},"libs":[]',
  stackprof: '{"version":1.2,"mode":"wall","interval":1000,"samples":10}',
  OTLP: '{"resourceProfiles":[]}',
  DHAT: '{"dhatFileVersion":2,"mode":"rust-heap"}',
  pyinstrument: '{"start_time":1,"duration":2,"sample_count":3,"root_frame":{}}',
  "folded stacks": "main;serve;parse 12\nmain;serve 3\nmain 1\n",
  "perf script":
    "app  4321 100.000000:     250000 cpu-clock:u: \n\t    55d0c0de1234 parse+0x10 (/usr/bin/app)\n\t    55d0c0de0000 main (/usr/bin/app)\n",
  callgrind: "# callgrind format\nversion: 1\n",
  massif: "desc: (none)\ncmd: ./app\ntime_unit: i\n",
  gprof: "Flat profile:\n\nEach sample counts as 0.01 seconds.\n",
  "gprof's own": "gmon\u0001",
};

describe.each(Object.entries(profiles))("%s", (_, text) => {
  test("is recognised", () => expect(beginsLikeProfile(bytes(text))).toBe(true));

  test("is recognised when compressed and truncated", () => {
    const whole = gzipSync(bytes(text + " ".repeat(4 * headLength)));
    expect(beginsLikeProfile(whole.subarray(0, whole.length - 12))).toBe(true);
  });
});

test("a pprof profile is recognised, plain and compressed", () => {
  expect(beginsLikeProfile(pprof)).toBe(true);
  expect(beginsLikeProfile(gzipSync(pprof))).toBe(true);
});

test("folded stacks are recognised even if the last line is cut", () => {
  const text = "main;serve;parse 12\n".repeat(headLength);
  expect(beginsLikeProfile(bytes(text.slice(0, headLength)))).toBe(true);
});

test.each([
  ["a manifest of npm", '{"name":"x","scripts":{"profile":"node --prof x"},"files":["dist"]}'],
  ["settings", '{"mode":"dark","interval":5}'],
  ["prose", "Call me Ishmael; some years ago, never mind how long precisely 12\nhaving little money; in 3\n and more"],
  ["a log", "2026-11-25 10:11:12 started; listening on 8080\n2026-11-25 10:11:13 done\n"],
  ["numbers", "1\n2\n3\n"],
  ["an executable", "\u007fELF\u0002\u0001"],
  ["nothing", ""],
])("%s is not recognised", (_, text) => {
  expect(beginsLikeProfile(bytes(text))).toBe(false);
});

test("a decompression bomb is not recognised", () => {
  const bomb = gzipSync(Buffer.alloc(2 ** 26));
  expect(beginsLikeProfile(bomb.subarray(0, headLength))).toBe(false);
});
