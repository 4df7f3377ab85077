/** What a trace's page and the extension say to each other. */
import type {
  EventsHit,
  EventsOpened,
  EventsOrder,
  EventsPart,
  EventsPlace,
  EventsQueueNames,
  EventsQueueOrder,
  EventsRow,
  EventsTimeline,
} from "../engine/protocol";

export interface TraceShown {
  trace: EventsOpened;
  /** The queue whose requests the rows show; null: none. */
  queue: EventsQueueNames | null;
  /** What the queue adds up to, a sentence; null without one. */
  queueText: string | null;
  /** By what its puts and takes are joined; null: as the log allows. */
  queueOrder: EventsQueueOrder | null;
  /** Whether its program can be run again. */
  canRefine: boolean;
}

/** The children of a node; of the thread itself when `node` is null. */
export interface RowsWanted {
  thread: number;
  node: number | null;
  order: EventsOrder;
  from: number;
  count: number;
}

/** Increases whenever the rows that the page has are outdated. */
interface Round {
  round: number;
}

/** Which search: another one has another number, also when it looks for the same text. */
interface Search {
  number: number;
}

export type ToTrace =
  | { type: "opening"; title: string; message: string; fraction: number | null }
  | { type: "trouble"; text: string }
  | ({ type: "show"; shown: TraceShown } & Round)
  | ({ type: "rows"; wanted: RowsWanted; rows: EventsRow[] } & Round)
  | {
      type: "timeline";
      left: number;
      right: number;
      threads: number[];
      levelsOf: number | null;
      timeline: EventsTimeline;
    }
  | ({ type: "found"; hits: EventsHit[]; next: EventsPlace | null } & Search)
  | ({ type: "notFound"; why: string } & Search)
  | { type: "reveal"; hit: EventsHit }
  /** A call's arguments and return value, as shown after its name; empty where the log does not have them. */
  | { type: "values"; thread: number; node: number; text: string };

export type FromTrace =
  | { type: "ready" }
  | ({ type: "rows"; wanted: RowsWanted } & Round)
  | {
      type: "timeline";
      left: number;
      right: number;
      width: number;
      threads: number[];
      /** The thread whose calls are requested, and how many levels. */
      levelsOf: number | null;
      levels: number;
    }
  /** From a place on: what `found` said is next. */
  | ({ type: "search"; text: string; from: EventsPlace | null } & Search)
  /** Where a node is in the tree. */
  | { type: "find"; thread: number; node: number }
  /** What a call was given and returned. */
  | { type: "values"; thread: number; node: number }
  | { type: "source"; method: number; name: string }
  | { type: "bottlenecks"; part: EventsPart; name: string }
  | { type: "filter"; part: EventsPart; name: string }
  | { type: "queue"; queue: EventsQueueNames | null; order: EventsQueueOrder | null }
  | { type: "run"; command: TraceCommand };

/** Commands that the page may start. */
export const traceCommands = ["refine", "compare"] as const;
export type TraceCommand = (typeof traceCommands)[number];
