/** What the Navigator shows, as plain data: every number with its denominator, every bar with its width. */

import type { NavigatorLabel, NavigatorOpened, NavigatorView, NavigatorWhole } from "../engine/protocol";
import { lastName, shortName } from "../flame/layout";
import { costText, fasterText, fraction, isMoreThanAll, pathText, shareText } from "../text/cost";
import { count } from "../text/format";
import { type CurrentModel, currentModel } from "./current";
import { type ListModel, listModels, metricOf } from "./lists";

export interface NavigatorModel {
  /** Of the rows that belong to it. */
  revision: number;
  title: string;
  comparison: boolean;
  /** Several runs on each side: rows say how certain they are. */
  spread: boolean;
  /** `of 1.23 s cpu`: the denominator of every share. */
  denominator: string;
  /** What the header says of shares. */
  shares: string;
  /** In a comparison: both totals, `A 1.2 s`, `B 1.0 s`. */
  totals: string | null;
  value: string;
  /** More than one can be chosen. */
  severalValues: boolean;
  suggester: "HighCum" | "HighBase";
  zoom: boolean;
  cutoff: string;
  crumbs: Crumb[];
  canBack: boolean;
  canForward: boolean;
  current: CurrentModel | null;
  coverage: CoverageModel | null;
  /** What the numbers of comparison rows are: base when paths are ranked by it. */
  metric: "base" | "cum";
  lists: ListModel[];
  notes: string[];
}

export interface Crumb {
  text: string;
  title: string;
  /** Position in the history. */
  at: number;
  current: boolean;
}

export interface CoverageModel {
  /** `82.7 % of 1.2 s is labelled`. */
  text: string;
  /** What could be gained; null when nothing can be said. */
  gain: string | null;
  segments: CoverageSegment[];
  /** Those of them that are wide enough to be seen in a bar. */
  bar: CoverageSegment[];
  /** The bar for screen readers, shortened to what can be listened to. */
  description: string;
}

export interface CoverageSegment {
  label: string;
  /** Position among the labels: their colour. */
  index: number;
  /** 0 to 1 of the bar. */
  width: number;
  /** In a comparison: what it covers became cheaper. */
  negative: boolean;
  /** `bottleneck: 25 %, 3 % of it covered before`. */
  text: string;
  share: string;
}

/** What the denominator is, behind a share. */
export const denominators: Record<NavigatorWhole, string> = {
  total: "",
  difference: " of the difference",
  costlier: " of what became costlier",
};

/** The same behind its cost. */
const wholes: Record<NavigatorWhole, string> = {
  total: "",
  difference: " difference",
  costlier: " that became costlier",
};

/** Narrower parts of the bar have no pixel of their own. */
const segmentSeen = 0.002;

/** The most labels that the bar's description names. */
const segmentsTold = 30;

/** The longest breadcrumb; older paths are behind its first. */
const crumbsShown = 5;

export function navigatorModel(opened: NavigatorOpened, view: NavigatorView, severalRuns = false): NavigatorModel {
  const unit = view.unit;
  const comparison = opened.kind === "comparison";
  const denominator = `of ${costText(view.total, unit)}${valueSuffix(view)}${wholes[view.of]}`;
  return {
    revision: view.revision,
    title: opened.title,
    comparison,
    spread: severalRuns,
    denominator,
    shares: comparison && view.total === 0 ? same(view) : `shares ${denominator}`,
    totals: view.sides === null ? null : `A ${costText(view.sides.a, unit)} − B ${costText(view.sides.b, unit)}`,
    value: view.value,
    severalValues: opened.valueTypes.length > 1,
    suggester: view.suggester,
    zoom: view.zoom,
    cutoff: String(view.cutoff),
    crumbs: crumbsOf(view),
    canBack: (view.history.at ?? 0) > 0,
    canForward: view.history.at !== null && view.history.at + 1 < view.history.count,
    current: view.current === null ? null : currentModel(view.current, view),
    coverage: coverageModel(view),
    metric: metricOf(view),
    lists: listModels(view),
    notes: [...new Set([...opened.notes, ...view.notes])],
  };
}

/** Why there is nothing that shares could be of. */
function same({ of }: NavigatorView): string {
  return of === "costlier"
    ? "no function's own cost differs by more than noise"
    : "every function's own cost is the same";
}

/** ` cpu`, when the value's name says more than its unit. */
function valueSuffix(view: NavigatorView): string {
  return view.value === "" || view.value === view.unit ? "" : `\u00a0${view.value}`;
}

function crumbsOf(view: NavigatorView): Crumb[] {
  const { paths, first, at } = view.history;
  const current = at === null ? -1 : at - first;
  const from = Math.max(0, Math.min(current - crumbsShown + 2, paths.length - crumbsShown));
  return paths.slice(from, from + crumbsShown).map((path, n) => ({
    text: crumbText(path),
    title: pathText(path),
    at: first + from + n,
    current: from + n === current,
  }));
}

/** `a`, `a → b`, `a → … → d`. */
export function crumbText(path: readonly string[]): string {
  const [begin, end] = [path[0] ?? "", path.at(-1) ?? ""].map(path.length === 1 ? shortName : lastName);
  return path.length === 1 ? (begin ?? "") : `${begin} →${path.length === 2 ? "" : " … →"} ${end}`;
}

export function coverageModel(view: NavigatorView): CoverageModel | null {
  if (view.labels.length === 0) {
    return null;
  }
  const { total, unit, labels } = view;
  const shares = labels.map((label) => fraction(label.marginal, total));
  // Shares of a comparison can be negative or pass the whole: then the bar shows how they relate.
  const sum = shares.reduce<number>((all, share) => all + Math.abs(share ?? 0), 0);
  const scale = sum > 1 ? 1 / sum : 1;
  const segments = labels.map((label, index) => ({
    label: label.name,
    index,
    width: Math.abs(shares[index] ?? 0) * scale,
    negative: (shares[index] ?? 0) < 0,
    share: shareText(shares[index] ?? null),
    text: segmentText(label, shares[index] ?? null, total),
  }));
  const cost = costText(total, unit);
  const text = coverageText(view, cost);
  const told = segments.slice(0, segmentsTold).map((it) => it.text);
  const more = segments.length - told.length;
  return {
    text,
    gain: gainText(view),
    segments,
    bar: segments.filter(({ width }) => width >= segmentSeen),
    description: `${text}: ${[...told, ...(more === 0 ? [] : [count(more, "more label")])].join("; ")}`,
  };
}

/** More than all needs its reason: some profilers count more for a function than all functions cost themselves. */
function coverageText({ of, coverage: { share } }: NavigatorView, cost: string): string {
  const plain = `${shareText(share)} of ${cost} is labelled`;
  if (!isMoreThanAll(share)) {
    return plain;
  }
  return of === "total"
    ? `All of ${cost} is labelled (its profiler counted ${shareText(share)})`
    : `${plain}: other paths became cheaper`;
}

function segmentText(label: NavigatorLabel, share: number | null, total: number): string {
  const own = fraction(label.cum, total);
  const shared = label.cum === label.marginal ? "" : ` more, of ${shareText(own)} in all`;
  const paths = label.paths.length === 1 ? "" : ` (${count(label.paths.length, "path")})`;
  return `${label.name}${paths}: ${shareText(share)}${shared}`;
}

/** What removing the labelled cost would gain: in a comparison also the paper's estimate (BOTTLENECKS Table 3). */
function gainText(view: NavigatorView): string | null {
  const { gain, table3 } = view.coverage;
  const faster = gain === null ? null : fasterText(gain);
  const sentences = [];
  if (faster !== null) {
    const program = table3 === null ? "the program" : "A";
    sentences.push(`Without it, ${program} is at most ${faster}, by Amdahl's law.`);
  }
  if (table3 !== null && table3 > 0) {
    sentences.push(`It is ${shareText(table3)} of what B costs.`);
  }
  return sentences.length === 0 ? null : sentences.join(" ");
}
