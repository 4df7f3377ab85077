/** What a panel is about, a run or a pair of runs, and reading it from what a page has kept. */

/** The paths of two runs or profiles. The one after the change is A, the one before it is B. */
export interface Pair {
  before: string;
  after: string;
}

export function isPair(value: unknown): value is Pair {
  const { before, after } = (value ?? {}) as Partial<Record<keyof Pair, unknown>>;
  return typeof before === "string" && typeof after === "string";
}

export function isSamePair(a: Pair, b: Pair): boolean {
  return a.before === b.before && a.after === b.after;
}

export function swapped({ before, after }: Pair): Pair {
  return { before: after, after: before };
}

/** The pair that a page has kept; `undefined` when it has kept something else. */
export function keptPair(state: unknown): Pair | undefined {
  return isPair(state) ? { before: state.before, after: state.after } : undefined;
}

/** The path of the run that a page has kept; `undefined` when it has kept something else. */
export function keptRun(state: unknown): string | undefined {
  const { run } = (state ?? {}) as { run?: unknown };
  return typeof run === "string" ? run : undefined;
}
