/** Whether a file is a profile by what it begins with, for names that do not say. The engine looks closely; this sorts menus. */
import { constants, gunzipSync } from "node:zlib";

/** So many bytes of a file are enough. */
export const headLength = 16_384;

/** What the first bytes of formats that are no text are. */
const magics = ["PERFILE2", "SIMPLEPERF", "FLR\0", "gmon"];

/** Keys of JSON formats: a file with all of one row is of that format. */
const jsonKeys: readonly (readonly string[])[] = [
  ["traceEvents"],
  ["ph", "ts", "pid"],
  ["resourceProfiles"],
  ["dhatFileVersion"],
  ["nodes", "callFrame"],
  ["head", "callFrame", "selfSize"],
  ["shared", "frames"],
  ["meta", "interval", "processType"],
  ["mode", "interval", "samples"],
  ["root_frame", "sample_count"],
  ["code", "functions", "ticks"],
  ["elapsed_time_sec", "files"],
  ["cost_centres", "profile"],
];

const textPatterns: readonly RegExp[] = [
  /^# callgrind format\b/,
  /^(version: \d+\r?\n)?creator: callgrind/,
  /^desc: .*\r?\ncmd: .*\r?\ntime_unit: /,
  /^(heap_v2\/\d|heap profile: )/,
  /^Flat profile:\r?\n/m,
  // `perf script`: who, which thread, when and what; below it the frames, the innermost first.
  /^\S.*\s\d+(\/\d+)?\s+(\[\d+\]\s+)?\d+\.\d+:\s.*\r?\n\s+[0-9a-f]+ .+ \(.*\)/m,
];

/** `head` is the beginning of the file, at most {@link headLength} bytes of it, perhaps compressed by gzip. */
export function beginsLikeProfile(head: Uint8Array): boolean {
  const bytes = plain(head);
  const text = Buffer.from(bytes).toString("utf8");
  return magics.some((magic) => text.startsWith(magic)) || isPprof(bytes) || isJson(text) || isText(text);
}

/** The end of what was cut is not missed. */
function plain(head: Uint8Array): Uint8Array {
  if (head[0] !== 0x1f || head[1] !== 0x8b) {
    return head;
  }
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * headLength });
  } catch {
    // Damaged, or it swells out of proportion: no profile of ours.
    return new Uint8Array();
  }
}

/** Its first field is a sample type: a message of two small numbers. */
function isPprof(bytes: Uint8Array): boolean {
  const [field, length = 0, type] = bytes;
  return field === 0x0a && length >= 2 && length <= 12 && (type === 0x08 || type === 0x10);
}

function isJson(text: string): boolean {
  const begin = text.slice(0, 200).trimStart();
  if (!begin.startsWith("{") && !begin.startsWith("[")) {
    return false;
  }
  const keys = new Set([...text.matchAll(/"([^"\\]{1,40})"\s*:/g)].map(([, key]) => key));
  return jsonKeys.some((wanted) => wanted.every((key) => keys.has(key)));
}

function isText(text: string): boolean {
  return textPatterns.some((pattern) => pattern.test(text)) || isFolded(text);
}

/** `main;serve;parse 12` in every line. */
function isFolded(text: string): boolean {
  const whole = text.length < headLength ? text : text.slice(0, text.lastIndexOf("\n"));
  const lines = whole.split(/\r?\n/, 50).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const deep = lines.filter((line) => line.includes(";"));
  return deep.length > 0 && 2 * deep.length >= lines.length && lines.every((line) => /^\S.* \d+(\.\d+)?$/.test(line));
}
