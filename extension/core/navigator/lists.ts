/** The Navigator's lists: where the search can begin, or go from the current path. */

import type { NavigatorRow, NavigatorStep, NavigatorView } from "../engine/protocol";
import { shortName } from "../flame/layout";
import { barWidth, costText, differenceText, fraction, pathText, shareText, shortCost } from "../text/cost";
import { count } from "../text/format";
import { certainty } from "./current";

export interface ListModel {
  title: string;
  /** The steps whose rows are below one heading, in order. */
  sources: { step: NavigatorStep; count: number }[];
  count: number;
  /** Below the rows: what is not shown, or why there are none. */
  footer: string | null;
}

export interface RowModel {
  /** What `select` takes; also a key while it is below ten. */
  number: number;
  step: NavigatorStep;
  /** The names that are added, that go, or that it is. */
  text: string;
  title: string;
  base: string;
  cum: string;
  /** Width of the bar behind it, by the list's metric. */
  width: number;
  negative: boolean;
  sides: { a: string; b: string; delta: string } | null;
  certainty: { significant: boolean; text: string } | null;
  /** Positions of its labels. */
  labels: number[];
  /** All of this for a screen reader. */
  spoken: string;
}

/** Suggestions of HighBase are ranked by base, everything else by cum. */
export function metricOf(view: NavigatorView): "base" | "cum" {
  return view.listing.kind === "suggestions" && view.suggester === "HighBase" ? "base" : "cum";
}

export function listModels(view: NavigatorView): ListModel[] {
  const countOf = (step: NavigatorStep) => view.rows.find((row) => row.step === step)?.count ?? 0;
  const list = (title: string, steps: NavigatorStep[], footer: string | null): ListModel => {
    const sources = steps.map((step) => ({ step, count: countOf(step) })).filter((source) => source.count > 0);
    return { title, sources, count: sources.reduce((sum, source) => sum + source.count, 0), footer };
  };
  if (view.listing.kind !== "nearby") {
    const found = list(startTitle(view), ["suggestion"], null);
    return [{ ...found, footer: found.count > 0 ? null : "No function's name contains this text." }];
  }
  const { hidden, limit } = view.current ?? { hidden: null, limit: null };
  const none = (text: string) => (limit === null ? text : null);
  const lists = [
    list("Callers: extend at the top", ["extendTop"], hiddenText(hidden?.top, "caller")),
    list("Callees: extend at the bottom", ["extendBottom"], hiddenText(hidden?.bottom, "callee")),
    list("Shorter paths: trim", ["trimTop", "trimBottom"], null),
  ] as const;
  const [top, bottom, trims] = lists;
  return [
    { ...top, footer: top.footer ?? (top.count > 0 ? null : none("Nothing calls it.")) },
    { ...bottom, footer: bottom.footer ?? (bottom.count > 0 ? null : none("It calls nothing.")) },
    ...(trims.count > 0 ? [trims] : []),
  ];
}

function startTitle(view: NavigatorView): string {
  if (view.listing.kind === "found") {
    return `Functions with “${view.listing.text}” in their names`;
  }
  return view.suggester === "HighBase" ? "Functions by base" : "Functions by cum";
}

function hiddenText(hidden: { count: number; share: number } | undefined, noun: string): string | null {
  return hidden === undefined || hidden.count === 0
    ? null
    : `${count(hidden.count, noun)} below the cutoff, with ${shareText(hidden.share)} of the cum, not shown.`;
}

/** The sort and position of a list's row. */
export function locate(list: ListModel, index: number): { step: NavigatorStep; index: number } | undefined {
  let left = index;
  for (const source of list.sources) {
    if (left < source.count) {
      return { step: source.step, index: left };
    }
    left -= source.count;
  }
  return undefined;
}

export function rowModel(row: NavigatorRow, step: NavigatorStep, view: NavigatorView): RowModel {
  const { total, unit } = view;
  const metric = metricOf(view);
  const cost = row[metric];
  const share = fraction(cost, total);
  const sides = row.sides?.[metric];
  const spread = row.spread?.[metric];
  const names = pathText(row.names, shortName);
  const text = step === "trimTop" || step === "trimBottom" ? `without ${names}` : names;
  const base = shareText(fraction(row.base, total));
  const cum = shareText(fraction(row.cum, total));
  const shownSides =
    sides === undefined
      ? null
      : { a: costText(sides.a, unit), b: costText(sides.b, unit), delta: differenceText(cost, unit) };
  const certain = spread === undefined ? null : certainty(spread, unit);
  return {
    number: row.number,
    step,
    text,
    title: [
      pathText(row.names),
      `base ${costText(row.base, unit)} (${base}), cum ${costText(row.cum, unit)} (${cum})`,
      ...(shownSides === null ? [] : [`${metric}: A ${shownSides.a}, B ${shownSides.b}, Δ ${shownSides.delta}`]),
      ...(certain === null ? [] : [certain.text]),
    ].join("\n"),
    base,
    cum,
    width: barWidth(share),
    negative: cost < 0,
    sides:
      sides === undefined
        ? null
        : {
            a: shortCost(sides.a, unit),
            b: shortCost(sides.b, unit),
            delta: `${cost > 0 ? "+" : ""}${shortCost(cost, unit)}`,
          },
    certainty: certain,
    labels: row.labels.map((name) => view.labels.findIndex((label) => label.name === name)),
    spoken: `${text}, base ${base}, cum ${cum}${shownSides === null ? "" : `, A ${shownSides.a}, B ${shownSides.b}, difference ${shownSides.delta}`}${certain === null ? "" : certain.significant ? ", significant" : ", may be noise"}${row.labels.length === 0 ? "" : `, labelled ${row.labels.join(", ")}`}`,
  };
}
