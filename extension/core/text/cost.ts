/** Costs and shares as people read them, the same as the command line writes them. */

import { foldedNames } from "../profiles/recursion";

const NO_BREAK_SPACE = "\u00a0";
const MINUS = "\u2212";

type Steps = readonly (readonly [least: number, unit: string])[];

interface Scale {
  /** What one of a unit is, in the smallest unit that is written instead of it. */
  readonly size: number;
  /** The larger ones. */
  readonly steps: Steps;
  readonly unit: string;
}

const times: Omit<Scale, "size"> = {
  steps: [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
  ],
  unit: "ns",
};
const scales: Readonly<Record<string, Scale>> = {
  ns: { size: 1, ...times },
  us: { size: 1e3, ...times },
  ms: { size: 1e6, ...times },
  s: { size: 1e9, ...times },
  bytes: {
    size: 1,
    steps: [
      [1e9, "GB"],
      [1e6, "MB"],
      [1e3, "kB"],
    ],
    unit: "B",
  },
  count: { size: 1, steps: [], unit: "" },
};

/** Of a value type's unit, which may have a decimal part: `0.01 count`. */
function scaleOf(unit: string): Scale {
  const end = Math.max(unit.indexOf(" "), 0);
  const decimal = Number(unit.slice(0, end));
  const bare = decimal > 0 ? unit.slice(end + 1) : unit;
  const scale = scales[bare] ?? { size: 1, steps: [], unit: bare };
  return decimal > 0 ? { ...scale, size: decimal * scale.size } : scale;
}

/** Made once, because that takes much longer than using it. */
const withDecimals = [0, 1, 2].map(
  (digits) => new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);

/** As many digits before the point as there are, and three in all when there are fewer. */
function threeDigits(size: number): string {
  const decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return withDecimals[decimals]?.format(size) ?? "";
}

/** `1.23 ms`, `4.50 MB`, `12,345 samples`. */
export function costText(cost: number, unit: string): string {
  const scale = scaleOf(unit);
  const size = Math.abs(cost) * scale.size;
  // What would be rounded to a thousand of the smaller unit is one of the larger.
  const [least, name] = scale.steps.find(([least]) => size >= 0.9995 * least) ?? [1, scale.unit];
  // Means of several runs have a fraction, which says nothing beside a count.
  const whole = least === 1 && scale.size >= 1;
  const number = whole ? Math.round(size).toLocaleString("en-US") : threeDigits(size / least);
  return `${cost < 0 ? MINUS : ""}${number}${name === "" ? "" : NO_BREAK_SPACE}${name}`;
}

const counts: readonly (readonly [size: number, letter: string])[] = [
  [1e9, "G"],
  [1e6, "M"],
];

/** The same in a narrow column: counts from a million on have three digits and no unit, as in `276 M`. */
export function shortCost(cost: number, unit: string): string {
  const scale = scaleOf(unit);
  const size = Math.abs(cost) * scale.size;
  const step = counts.find(([least]) => size >= least);
  if (step === undefined || scale.steps.length > 0) {
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

/** Whether a share would be written as more than 100 %. */
export function isMoreThanAll(share: number | null): boolean {
  return share !== null && share >= 1.0005;
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

/** A path for a line of text: `a → b → c`, recursion folded: `a → walk ×17`. `shown` is how a name is written. */
export function pathText(path: readonly string[], shown?: (name: string) => string): string {
  return foldedNames(path, shown).join(" → ");
}
