/** Costs and shares as people read them, the same as the command line writes them. */
import { count } from "./format";

const NO_BREAK_SPACE = "\u00a0";
const MINUS = "\u2212";

const scales: Readonly<Record<string, readonly (readonly [size: number, unit: string])[]>> = {
  ns: [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
  ],
  bytes: [
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
  ],
};

/** `1.23 ms`, `4.5 MB`, `12,345 samples`. */
export function costText(cost: number, unit: string): string {
  const size = Math.abs(cost);
  const sign = cost < 0 ? MINUS : "";
  const scale = scales[unit]?.find(([least]) => size >= least);
  if (scale !== undefined) {
    const value = size / scale[0];
    return `${sign}${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)}${NO_BREAK_SPACE}${scale[1]}`;
  }
  // Means of several runs have a fraction, which says nothing beside a count.
  const number = `${sign}${Math.round(size).toLocaleString("en-US")}`;
  return unit === "" ? number : `${number}${NO_BREAK_SPACE}${unit}`;
}

const counts: readonly (readonly [size: number, letter: string])[] = [
  [1e9, "G"],
  [1e6, "M"],
];

/** The same in a narrow column: counts from a million on have three digits and no unit, as in `276 M`. */
export function shortCost(cost: number, unit: string): string {
  const size = Math.abs(cost);
  const scale = scales[unit] === undefined ? counts.find(([least]) => size >= least) : undefined;
  if (scale === undefined) {
    return costText(cost, unit);
  }
  const value = size / scale[0];
  const digits = value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
  return `${cost < 0 ? MINUS : ""}${digits}${NO_BREAK_SPACE}${scale[1]}`;
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
