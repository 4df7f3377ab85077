/** The refine loop as a table: a row an iteration, and how it ended. */

import type { RefineIteration } from "../engine/protocol";
import { costText, shareText } from "../text/cost";

export interface RefineRow {
  number: number;
  run: string;
  methods: string;
  classes: string;
  fired: string;
  metered: string;
  /** Of the most that an iteration metered, 0 to 1. */
  share: number;
  unit: string;
  overhead: string;
  hotspots: string;
  /** What a random look at excluded methods found. */
  rechecked: string;
  /** It is not over. */
  going: boolean;
}

/** A method that the rule keeps. */
export interface Hotspot {
  /** As the engine calls it. */
  method: string;
  /** As people read it. */
  text: string;
}

export interface RefineModel {
  title: string;
  /** The command line. */
  command: string;
  state: "going" | "done" | "failed";
  /** The loop was asked to stop and has not ended yet. */
  stopping: boolean;
  /** What is going on, how it ended, or why it could not. */
  message: string;
  /** 0 to 1 while the loop goes on. */
  fraction: number;
  rows: RefineRow[];
  hotspots: Hotspot[];
  /** The last filter's file, when it is over. */
  filter: string | null;
  notes: string[];
}

export type ToRefine = { type: "show"; model: RefineModel };
export type FromRefine =
  | { type: "ready" }
  | { type: "cancel" }
  | { type: "again" }
  | { type: "filter" }
  | { type: "source"; method: string }
  | { type: "open"; run: string }
  | { type: "compare"; before: string; after: string };

/** What is going on, or how it ended. A stopping loop still reports its steps; shown, they would look like a refusal. */
export function refineSays({ state, stopping, message }: RefineModel): string {
  return state === "going" && stopping ? "stopping…" : message;
}

/** The rows of a loop's iterations. While it goes on, so does the last one. */
export function refineRows(iterations: readonly RefineIteration[], state: "going" | "done"): RefineRow[] {
  const most = Math.max(1, ...iterations.map((it) => it.metered));
  return iterations.map((it, n) => ({
    number: it.number,
    run: it.run,
    methods: whole(it.methods),
    classes: whole(it.classes),
    fired: whole(it.fired),
    metered: whole(it.metered),
    share: it.metered / most,
    unit: it.wallNs === null ? "–" : costText(it.wallNs, "ns"),
    overhead: overheadText(it),
    hotspots: whole(it.hotspots),
    rechecked: recheckText(it),
    going: state === "going" && n === iterations.length - 1,
  }));
}

export function hotspotsOf(methods: readonly string[]): Hotspot[] {
  return methods.map((method) => ({ method, text: methodText(method) }));
}

/**
 * A method as Java's own tools show it: `shop.Cart.add(String, int[])` of `shop.Cart.add(Ljava/lang/String;[I)V`. Other names
 * stay.
 */
export function methodText(name: string): string {
  const [, method, parameters] = /^([^(]+)\(([^()]*)\)[^()]+$/.exec(name) ?? [];
  const types = parameters?.match(/\[*(?:[BCDFIJSZ]|L[^;]+;)/g) ?? [];
  if (method === undefined || types.join("") !== parameters) {
    return name;
  }
  return `${method}(${types.map(typeText).join(", ")})`;
}

const primitives: Record<string, string> = {
  B: "byte",
  C: "char",
  D: "double",
  F: "float",
  I: "int",
  J: "long",
  S: "short",
  Z: "boolean",
};

function typeText(descriptor: string): string {
  const element = descriptor.replace(/^\[+/, "");
  const name = primitives[element] ?? element.slice(1, -1).replace(/^.*\//, "").replaceAll("$", ".");
  return name + "[]".repeat(descriptor.length - element.length);
}

/** `2.1 % [0.4, 3.9]`; the interval is of 95 %. */
export function overheadText({ overhead, overheadLow, overheadHigh }: RefineIteration): string {
  if (overhead === null) {
    return "–";
  }
  const bare = (share: number) => shareText(share).replace(/\u00a0%$/, "");
  const interval =
    overheadLow === null || overheadHigh === null ? "" : ` [${bare(overheadLow)}, ${bare(overheadHigh)}]`;
  return `${shareText(overhead)}${interval}`;
}

function recheckText({ rechecked, found }: RefineIteration): string {
  if (rechecked.length === 0) {
    return "";
  }
  return found.length === 0 ? `${rechecked.length}, none hot` : `${rechecked.length}, ${found.length} hot`;
}

function whole(number: number): string {
  return Math.round(number).toLocaleString("en-US");
}
