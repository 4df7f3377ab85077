/** Two runs lined up: what the compare view shows of them, as plain data. */

import type { ComparedPoint, ComparedTarget, Comparison, Estimate } from "../engine/protocol";
import { signedPercent } from "../text/format";

export interface CompareModel {
  before: string;
  after: string;
  points: ComparePointModel[];
  notes: string[];
}

export interface ComparePointModel {
  name: string;
  kind: string;
  /** What really happened, as one sentence. */
  actual: string;
  axis: Axis;
  rows: CompareRow[];
}

/** What all pictures of a table share: a range of program speedups around zero, and where to draw marks. */
export interface Axis {
  low: number;
  high: number;
  ticks: number[];
}

export interface CompareRow {
  label: string;
  location: string;
  remark: string;
  costBefore: string;
  costAfter: string;
  speedup: string;
  predicted: string;
  actual: string;
  verdict: string;
  /** Its cost changed by more than noise. */
  changed: boolean;
  /** Intervals to draw; a value without an interval has equal ends. */
  predictedRange: Range | null;
  actualRange: Range | null;
  /** The picture as text. */
  description: string;
}

export interface Range {
  value: number;
  low: number;
  high: number;
}

export type ToCompare = { type: "loading" } | { type: "trouble"; text: string } | { type: "show"; model: CompareModel };
export type FromCompare =
  | { type: "ready" }
  | { type: "swap" }
  | { type: "refresh" }
  | { type: "choose" }
  /** Places among the points, and among the point's rows. */
  | { type: "goTo"; point: number; target: number };

export function compareModel(comparison: Comparison): CompareModel {
  return {
    before: comparison.before.title,
    after: comparison.after.title,
    points: comparison.progressPoints.map(pointModel),
    notes: comparison.notes,
  };
}

function pointModel(point: ComparedPoint): ComparePointModel {
  const ranges = [point.actual, ...point.targets.map((target) => target.predicted)].map(rangeOf);
  return {
    name: point.name,
    kind: point.kind,
    actual: actualSentence(point),
    axis: axisOf(ranges.filter((range) => range !== null)),
    rows: point.targets.map((target) => row(target, point)),
  };
}

function row(target: ComparedTarget, point: ComparedPoint): CompareRow {
  const beyond = target.extrapolated ? " (extrapolated)" : "";
  const predicted = target.predicted === null ? "unknown" : `${estimateText(target.predicted)}${beyond}`;
  const actual = point.actual === null ? "unknown" : estimateText(point.actual);
  return {
    label: target.label,
    location: target.location,
    remark:
      target.uri === null
        ? "not in the workspace"
        : target.state === "stale"
          ? "line changed since it was measured"
          : "",
    costBefore: target.costBeforeNs === null ? "–" : timeText(target.costBeforeNs.value),
    costAfter: target.costAfterNs === null ? "–" : timeText(target.costAfterNs.value),
    speedup: target.speedup === null ? "unknown" : estimateText(target.speedup),
    predicted,
    actual,
    verdict: target.verdict,
    changed: target.changed,
    predictedRange: rangeOf(target.predicted),
    actualRange: rangeOf(point.actual),
    description: `Predicted ${predicted}, actual ${actual}`,
  };
}

/** `+11 % [8, 14]`. */
export function estimateText(estimate: Estimate): string {
  const value = signedPercent(estimate.value);
  if (estimate.low === null || estimate.high === null) {
    return value;
  }
  const bare = (fraction: number) => signedPercent(fraction).replace(/^\+|\u00a0%$/g, "");
  return `${value} [${bare(estimate.low)},\u00a0${bare(estimate.high)}]`;
}

function actualSentence(point: ComparedPoint): string {
  const { actual } = point;
  if (actual === null) {
    return "The program's speedup is not known: one of the runs visited this progress point too rarely.";
  }
  const size = signedPercent(Math.abs(actual.value)).replace("+", "");
  const unit = point.kind === "latency" ? "A request" : "A visit";
  const certain = actual.low !== null && actual.high !== null && (actual.low > 0 || actual.high < 0);
  const change = !certain
    ? "The program's speed did not change by more than the measurement can tell"
    : `${unit} takes ${size} ${actual.value > 0 ? "less" : "more"} time`;
  const interval =
    actual.low === null || actual.high === null
      ? ""
      : ` (95 % interval ${signedPercent(actual.low)} to ${signedPercent(actual.high)})`;
  return `${change}${interval}${rateText(point)}.`;
}

function rateText(point: ComparedPoint): string {
  const { beforeRate, afterRate, beforeNs, afterNs } = point;
  if (point.kind === "latency") {
    const known = beforeNs !== null && afterNs !== null;
    return known ? `: ${timeText(beforeNs.value)} a request before, ${timeText(afterNs.value)} after` : "";
  }
  const known = beforeRate !== null && afterRate !== null;
  if (!known) {
    return "";
  }
  // Less time and more visits are two numbers for one gain.
  const more = signedPercent(afterRate / beforeRate - 1);
  return `: ${numberText(beforeRate)} visits a second before, ${numberText(afterRate)} after (${more})`;
}

/** Nanoseconds as one reads them, three digits. */
export function timeText(nanoseconds: number): string {
  for (const [unit, size] of [
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
  ] as const) {
    if (Math.abs(nanoseconds) >= size) {
      return `${numberText(nanoseconds / size)}\u00a0${unit}`;
    }
  }
  return `${numberText(nanoseconds)}\u00a0ns`;
}

/** Three digits that count, thousands with a comma. */
export function numberText(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

function rangeOf(estimate: Estimate | null): Range | null {
  if (estimate === null) {
    return null;
  }
  const { value } = estimate;
  return { value, low: estimate.low ?? value, high: estimate.high ?? value };
}

/** Holds every range and zero; ticks at round numbers, at most six. */
export function axisOf(ranges: readonly Range[]): Axis {
  const low = Math.min(0, ...ranges.map((range) => range.low));
  const high = Math.max(0, ...ranges.map((range) => range.high));
  const span = Math.max(high - low, 0.01);
  const step = niceStep(span / 4);
  // A little beyond a tick is drawn at the edge rather than bought with an empty step.
  const first = Math.floor(low / step + 0.1);
  const last = Math.max(Math.ceil(high / step - 0.1), first + 1);
  const ticks = Array.from({ length: last - first + 1 }, (_, n) => (first + n) * step);
  return { low: first * step, high: last * step, ticks };
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough) ?? 10;
  return factor * power;
}
