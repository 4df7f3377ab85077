/** What the flame graph's page and the extension say to each other. */
import type { NavigatorFlameWidth } from "../engine/protocol";
import type { FlameArrays, Range } from "./boxes";

/** Parts of a graph that are fetched apart: the whole tree; or what calls a path and what it calls. */
export type Section = "tree" | "callers" | "callees";

export interface FlameShown {
  /** Increases whenever what is drawn must be fetched again. */
  generation: number;
  /** What the places of boxes depend on: while it is the same, they do not move. */
  layout: string;
  title: string;
  /** The path that is merged over all its contexts; null: the whole tree. */
  path: string[] | null;
  /** The Navigator's current path, if there is one to show merged. */
  currentPath: string[] | null;
  comparison: boolean;
  width: NavigatorFlameWidth;
  unit: string;
  labels: string[];
}

/** A part that is asked for: boxes at least `minimum` wide, in the first `depths` rows. */
export interface Need {
  section: Section;
  range: Range;
  minimum: number;
  depths: number;
}

/** What was asked for. */
export interface Tile extends Need {
  arrays: FlameArrays;
  /** The rows that there are, sent or not. */
  levels: number;
  /** Cost of the graph's root. In a comparison A's. */
  total: number;
}

export type ToFlame =
  | { type: "show"; shown: FlameShown }
  /** There is nothing to draw. */
  | { type: "nothing"; text: string }
  | { type: "tile"; generation: number; tile: Tile }
  | { type: "failed"; generation: number; need: Need }
  | { type: "found"; generation: number; text: string; summary: string }
  /** The Navigator went elsewhere: what *This path* would show. */
  | { type: "current"; path: string[] | null }
  | { type: "focus" }
  | { type: "trouble"; text: string };

export type FromFlame =
  | { type: "ready" }
  | { type: "need"; generation: number; need: Need }
  | { type: "search"; generation: number; text: string }
  | { type: "source"; name: string }
  | { type: "select"; path: string[] }
  | { type: "merge"; path: string[] }
  | { type: "tree" }
  | { type: "width"; width: NavigatorFlameWidth };
