/** The current path: its frames, its costs as bars, its labels and what it shares with them. */

import type {
  NavigatorCurrent,
  NavigatorLabelOverlap,
  NavigatorSides,
  NavigatorSpread,
  NavigatorView,
} from "../engine/protocol";
import { shortName } from "../flame/layout";
import { foldRecursion, timesText } from "../profiles/recursion";
import { barWidth, costText, differenceText, fraction, shareText } from "../text/cost";

export interface CurrentModel {
  frames: FrameModel[];
  base: MetricModel;
  cum: MetricModel;
  labels: { name: string; index: number }[];
  /** Labels that share something with the path, the most first. */
  overlaps: OverlapModel[];
  /** Those that share nothing, in a sentence; null: there are none. */
  apart: string | null;
  /** How much of the path no label covers; null without labels. */
  unlabelled: string | null;
  /** Why numbers look wrong and are not. */
  paradox: string | null;
  limit: string | null;
}

export interface FrameModel {
  name: string;
  /** As it is shown, with how often it calls itself: `walk ×17`. */
  short: string;
  /** How many names of the path it represents. */
  times: number;
  /** Where the profile says that it is; null: only the name is known. */
  recorded: string | null;
}

export interface MetricModel {
  name: "Base" | "Cum";
  /** What it is, in a sentence. */
  meaning: string;
  share: string;
  cost: string;
  /** 0 to 1. */
  width: number;
  negative: boolean;
  /** In a comparison; the longer bar has width 1. */
  sides: { a: string; b: string; delta: string; aWidth: number; bWidth: number } | null;
  certainty: CertaintyModel | null;
}

export interface CertaintyModel {
  significant: boolean;
  /** `95 % interval +1.2 s to +1.4 s, p < 0.001: more than noise`. */
  text: string;
}

export interface OverlapModel {
  label: string;
  index: number;
  /** Of the current path's cum. */
  share: string;
  width: number;
  negative: boolean;
  /** `cum 40 (41 % of this path), base 5 (33 %)`. */
  text: string;
}

export function currentModel(current: NavigatorCurrent, view: NavigatorView): CurrentModel {
  const { unit } = view;
  const { sides, spread } = current;
  const positions = new Map(view.labels.map((label, position) => [label.name, position]));
  const index = (name: string) => positions.get(name) ?? -1;
  const shared = current.overlaps.filter((overlap) => overlap.cum !== 0 || overlap.base !== 0);
  const apart = current.overlaps.filter((overlap) => overlap.cum === 0 && overlap.base === 0);
  return {
    frames: foldRecursion(current.frames, (frame) => frame.name).map(({ item: { name, recorded }, times }) => ({
      name,
      short: shortName(name) + timesText(times),
      times,
      recorded,
    })),
    base: metric(
      { name: "Base", meaning: "the path itself", cost: current.base, sides: sides?.base, spread: spread?.base },
      view,
    ),
    cum: metric(
      {
        ...{ name: "Cum", meaning: "the path and all that it calls", cost: current.cum },
        ...{ sides: sides?.cum, spread: spread?.cum },
      },
      view,
    ),
    labels: current.labels.map((name) => ({ name, index: index(name) })),
    overlaps: shared
      .map((overlap) => overlapModel(overlap, current, unit, index(overlap.label)))
      .sort((a, b) => b.width - a.width),
    apart: apart.length === 0 ? null : `Nothing in common with ${apart.map((overlap) => overlap.label).join(", ")}.`,
    unlabelled: current.overlaps.length === 0 ? null : unlabelled(current),
    paradox: current.paradox,
    limit: current.limit,
  };
}

function overlapModel(
  overlap: NavigatorLabelOverlap,
  current: NavigatorCurrent,
  unit: string,
  index: number,
): OverlapModel {
  const ofCum = fraction(overlap.cum, current.cum);
  const ofBase = fraction(overlap.base, current.base);
  return {
    label: overlap.label,
    index,
    share: shareText(ofCum),
    width: barWidth(ofCum),
    negative: (ofCum ?? 0) < 0,
    text: `cum ${costText(overlap.cum, unit)} (${shareText(ofCum)} of this path), base ${costText(overlap.base, unit)} (${shareText(ofBase)})`,
  };
}

function unlabelled(current: NavigatorCurrent): string {
  const left = current.cum - current.overlap.cum;
  return left === 0
    ? "All of this path's cum is labelled."
    : `${shareText(fraction(left, current.cum))} of this path's cum has no label yet.`;
}

interface Measured {
  name: "Base" | "Cum";
  meaning: string;
  cost: number;
  sides: NavigatorSides | undefined;
  spread: NavigatorSpread | undefined;
}

function metric({ name, meaning, cost, sides, spread }: Measured, { total, unit }: NavigatorView): MetricModel {
  const share = fraction(cost, total);
  const most = sides === undefined ? 0 : Math.max(Math.abs(sides.a), Math.abs(sides.b));
  return {
    name,
    meaning,
    share: shareText(share),
    cost: sides === undefined ? costText(cost, unit) : differenceText(cost, unit),
    width: barWidth(share),
    negative: cost < 0,
    sides:
      sides === undefined
        ? null
        : {
            a: costText(sides.a, unit),
            b: costText(sides.b, unit),
            delta: differenceText(cost, unit),
            aWidth: barWidth(fraction(sides.a, most)),
            bWidth: barWidth(fraction(sides.b, most)),
          },
    certainty: spread === undefined ? null : certainty(spread, unit),
  };
}

export function certainty(spread: NavigatorSpread, unit: string): CertaintyModel {
  const p = spread.p < 0.001 ? "p < 0.001" : `p = ${spread.p.toPrecision(2)}`;
  const verdict = spread.significant ? "more than noise" : "may be noise";
  const interval = `${differenceText(spread.low, unit)} to ${differenceText(spread.high, unit)}`;
  return { significant: spread.significant, text: `95 % interval ${interval}, ${p}: ${verdict}` };
}
