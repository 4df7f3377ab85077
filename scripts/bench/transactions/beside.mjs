/**
 * Two servers of a kind at the same time, one alone and one under something, asked in turn by short loads: the speed of a machine
 * that changes from second to second then changes for both.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { generator, middle95 } from "../lib/statistics.mjs";
import { secondPorts, servers } from "./servers.mjs";
import { whileServing } from "./serving.mjs";

/** Of the requests of a whole round, a load has one in so many. */
const part = 15;
/** Loads divide their requests by three or four kinds, and by eight connections. */
const divisor = 3 * 4 * 8;

/**
 * @typedef {object} Pair of loads, one after the other
 * @property {number} alone seconds
 * @property {number} under seconds
 * @property {[number, number]} between which times the load of the server under something ran: CLOCK_MONOTONIC, seconds
 */

/**
 * @param {import("./servers.mjs").Server} server
 * @param {string[]} before what starts the second server
 * @param {number} seconds how long they are asked
 * @returns {Promise<Pair[]>}
 */
export async function sideBySide(server, before, seconds) {
  const second = { ...server, port: secondPorts[servers.indexOf(server)] };
  await second.prepare?.(second.port);
  return whileServing(server, [], () => whileServing(second, before, () => askBoth(server, second, seconds)));
}

async function askBoth(server, second, seconds) {
  const random = generator(1);
  const requests = Math.ceil(server.requests / part / divisor) * divisor;
  const load = async ({ port }) => {
    const from = now();
    const { seconds } = await server.load(port, requests);
    return { seconds, between: [from, now()] };
  };
  const pairs = [];
  for (const end = now() + seconds; now() < end; ) {
    const isFirst = random() < 0.5;
    const first = await load(isFirst ? server : second);
    const other = await load(isFirst ? second : server);
    const [alone, under] = isFirst ? [first, other] : [other, first];
    pairs.push({ alone: alone.seconds, under: under.seconds, between: under.between });
  }
  return pairs;
}

const now = () => Number(process.hrtime.bigint()) / 1e9;

/** When recording paused and went on, in turn: CLOCK_MONOTONIC, seconds. */
export function windowsOf(run) {
  const file = path.join(run, "windows");
  const words = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  return Array.from({ length: Math.floor(words.length / 8) }, (_, at) => Number(words.readBigUInt64LE(8 * at)) / 1e9);
}

/**
 * By how much longer requests took, in percent, with half the width of its 95 % bootstrap interval.
 * @param {Pair[]} pairs at least two
 */
export function cost(pairs) {
  const random = generator(1);
  const of = (some) => {
    const sum = (key) => some.reduce((sum, it) => sum + it[key], 0);
    return 100 * (sum("under") / sum("alone") - 1);
  };
  const draw = () => of(pairs.map(() => pairs[Math.floor(random() * pairs.length)]));
  const { low, high } = middle95(Array.from({ length: 2000 }, draw));
  return { value: of(pairs), spread: (high - low) / 2 };
}

/**
 * The pairs since the first pause, those in later windows, those in pauses, and the share of the time that was recorded since. Without
 * a pause, all are recorded.
 * @param {Pair[]} pairs
 * @param {number[]} windows
 */
export function byWindow(pairs, windows) {
  const [first] = windows;
  const end = pairs.at(-1)?.between[1] ?? 0;
  if (first === undefined) {
    return { settled: pairs, recorded: pairs, paused: [], share: 1 };
  }
  const switchesBefore = (time) => windows.filter((it) => it <= time).length;
  const settled = pairs.filter(({ between }) => between[0] >= first);
  const isIn = (kind) => (pair) => {
    const [from, to] = pair.between.map(switchesBefore);
    return from === to && from % 2 === kind;
  };
  const paused = windows.reduce(
    (sum, time, at) => (at % 2 === 0 ? sum + Math.min(windows[at + 1] ?? end, end) - time : sum),
    0,
  );
  return {
    settled,
    recorded: pairs.filter(isIn(0)),
    paused: pairs.filter(isIn(1)),
    share: 1 - paused / (end - first),
  };
}
