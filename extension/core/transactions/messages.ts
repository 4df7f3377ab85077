/** What the page of a transactional profile and the extension say to each other. */
import type { TransactionsOpened } from "../engine/protocol";

export type ToTransactions =
  | { type: "opening"; title: string; message: string }
  | { type: "trouble"; text: string }
  | { type: "show"; title: string; opened: TransactionsOpened }
  /** How the recording is going; null when it has ended. */
  | { type: "live"; text: string | null };

/** A row of the crosstalk. */
export interface SectionOf {
  waiter: string;
  holder: string;
  lock: string;
}

/** What can be done with a type: search it, see its flame graph, compare it with another one. */
export type TypeAction = "search" | "flame" | "compare";

export type FromTransactions =
  | { type: "ready" }
  | { type: "again" }
  | { type: "cancel" }
  /** Ends the recording. */
  | { type: "stop" }
  | { type: "of"; action: TypeAction; of: string }
  /** Measures what the holder's section is worth to the waiter. */
  | { type: "price"; pair: SectionOf }
  | { type: "frame"; name: string };
