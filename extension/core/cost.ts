/** Costs and shares as people read them, the same as the command line writes them. */
import { count } from "./format";

const NO_BREAK_SPACE = "\u00a0";
const MINUS = "\u2212";

type Steps = readonly (readonly [least: number, unit: string])[];

const times: Steps = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];
/** How large a unit is, the units that are written instead of it, and the smallest of them. */
const scales: Readonly<Record<string, readonly [size: number, steps: Steps, unit: string]>> = {
  ns: [1, times, "ns"],
  us: [1e3, times, "ns"],
  ms: [1e6, times, "ns"],
  s: [1e9, times, "ns"],
  bytes: [
    1,
    [
      [1e9, "GB"],
      [1e6, "MB"],
      [1e3, "kB"],
    ],
    "B",
  ],
  count: [1, [], ""],
};

/** A value type's unit without the decimal part that it may have: `0.01 count`. */
function withoutDecimals(unit: string): [scale: number, unit: string] {
  const end = unit.indexOf(" ");
  const scale = Number(unit.slice(0, Math.max(end, 0)));
  return scale > 0 ? [scale, unit.slice(end + 1)] : [1, unit];
}

/** As many digits before the point as there are, and three in all when there are fewer. */
function threeDigits(size: number): string {
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return size.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `1.23 ms`, `4.50 MB`, `12,345 samples`. */
export function costText(cost: number, unit: string): string {
  const [scale, bare] = withoutDecimals(unit);
  const [factor, steps, least] = scales[bare] ?? [1, [], bare];
  const size = Math.abs(cost) * scale * factor;
  const step = steps.find(([from]) => size >= from);
  const sign = cost < 0 ? MINUS : "";
  if (step !== undefined) {
    return `${sign}${threeDigits(size / step[0])}${NO_BREAK_SPACE}${step[1]}`;
  }
  // Means of several runs have a fraction, which says nothing beside a count.
  const number = `${sign}${scale === 1 ? Math.round(size).toLocaleString("en-US") : threeDigits(size)}`;
  return least === "" ? number : `${number}${NO_BREAK_SPACE}${least}`;
}

const counts: readonly (readonly [size: number, letter: string])[] = [
  [1e9, "G"],
  [1e6, "M"],
];

/** The same in a narrow column: counts from a million on have three digits and no unit, as in `276 M`. */
export function shortCost(cost: number, unit: string): string {
  const [scale, bare] = withoutDecimals(unit);
  const size = Math.abs(cost) * scale;
  const step = (scales[bare]?.[1] ?? []).length === 0 ? counts.find(([least]) => size >= least) : undefined;
  if (step === undefined) {
    return costText(cost, unit);
  }
  return `${cost < 0 ? MINUS : ""}${threeDigits(size / step[0])}${NO_BREAK_SPACE}${step[1]}`;
}

/** The same with a plus sign: for differences. */
export function differenceText(cost: number, unit: string): string {
  return cost > 0 ? `+${costText(cost, unit)}` : costText(cost, unit);
}

/** A part of a total: 0 of 0 is 0, anything else of 0 is not known. */
export function fraction(cost: number, total: number): number | null {
  return total === 0 ? (cost === 0 ? 0 : null) : cost / total;
}

/** Three digits that count: `12.3 %`, `9.85 %`; `–` when there is no total. Tiny shares are not nothing: `<0.01 %`. */
export function shareText(share: number | null): string {
  if (share === null) {
    return "–";
  }
  const percent = Math.abs(share) * 100;
  const sign = share < 0 ? MINUS : "";
  if (percent !== 0 && percent < 0.005) {
    return `${sign}<0.01${NO_BREAK_SPACE}%`;
  }
  const digits = percent.toFixed(percent < 9.995 ? 2 : 1).replace(/\.?0+$/, "");
  return `${sign}${digits}${NO_BREAK_SPACE}%`;
}

/** What more throughput means, 0.25 being a quarter more: `25 % faster`, or `3.0 times as fast`; null: nothing is gained. */
export function fasterText(gain: number): string | null {
  if (gain >= 1) {
    return `${(1 + gain).toFixed(1)} times as fast`;
  }
  return gain > 0 ? `${shareText(gain)} faster` : null;
}

/** Width of a bar, 0 to 1. Bars of negative and of more than the whole stay inside. */
export function barWidth(share: number | null): number {
  return share === null ? 0 : Math.min(Math.abs(share), 1);
}

/** A path for a line of text: `a → b → c`. */
export function pathText(path: readonly string[]): string {
  return path.join(" → ");
}

/** `3 frames`. */
export function frames(path: readonly string[]): string {
  return count(path.length, "frame");
}
