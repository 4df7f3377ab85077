import type {
  NavigatorCurrent,
  NavigatorLine,
  NavigatorOpened,
  NavigatorRow,
  NavigatorView,
} from "../../extension/core/engine/protocol";
import type { FlameArrays } from "../../extension/core/flame/boxes";

/** The paper's Figure 2 before anything is selected. Pass only the fields that the test is about. */
export function view(over: Partial<NavigatorView> = {}): NavigatorView {
  return {
    revision: 1,
    value: "samples",
    unit: "",
    total: 100,
    of: "total",
    sides: null,
    suggester: "HighCum",
    zoom: false,
    cutoff: 0.95,
    current: null,
    listing: { kind: "suggestions" },
    rows: [{ step: "suggestion", count: 5 }],
    labels: [],
    coverage: { base: 0, cum: 0, share: 0, gain: 0, table3: null },
    history: { first: 0, paths: [], at: null, count: 0 },
    notes: [],
    ...over,
  };
}

/** `[c]`: base 15, cum 97. */
export function current(over: Partial<NavigatorCurrent> = {}): NavigatorCurrent {
  return {
    frames: [{ name: "c", recorded: null }],
    base: 15,
    cum: 97,
    sides: null,
    spread: null,
    paradox: null,
    labels: [],
    overlaps: [],
    overlap: { base: 0, cum: 0 },
    hidden: { top: { count: 0, share: 0 }, bottom: { count: 0, share: 0 } },
    limit: null,
    ...over,
  };
}

export function opened(over: Partial<NavigatorOpened> = {}): NavigatorOpened {
  return {
    id: 1,
    title: "figure2.folded",
    kind: "tree",
    valueTypes: [{ name: "samples", unit: "" }],
    names: 5,
    nodes: 6,
    notes: [],
    view: view(),
    ...over,
  };
}

export function row(over: Partial<NavigatorRow> = {}): NavigatorRow {
  return { number: 0, names: ["c"], base: 15, cum: 97, sides: null, spread: null, labels: [], ...over };
}

export function line(over: Partial<NavigatorLine> = {}): NavigatorLine {
  return {
    line: 4,
    kind: "function",
    recordedLine: 5,
    state: "exact",
    name: "parse",
    base: 12,
    cum: 40,
    baseShare: 0.12,
    cumShare: 0.4,
    sides: null,
    heat: "hot3",
    text: "12 % here, 40 % with calls",
    hover: "**Cost in a.pb.gz** · `parse`",
    ...over,
  };
}

/** A flame graph from `[row, x, width, name]`. Costs are widths of a graph of 1,000. */
export function flame(boxes: readonly (readonly [number, number, number, string])[]): FlameArrays {
  const names = [...new Set(boxes.map(([, , , name]) => name))];
  return {
    depth: boxes.map(([row]) => row),
    x: boxes.map(([, x]) => x),
    width: boxes.map(([, , width]) => width),
    name: boxes.map(([, , , name]) => names.indexOf(name)),
    label: boxes.map(() => -1),
    cost: boxes.map(([, , width]) => width * 1000),
    own: boxes.map(() => 0),
    against: null,
    names,
    containers: [],
  };
}
