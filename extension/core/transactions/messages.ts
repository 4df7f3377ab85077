/** What the page of a transactional profile and the extension say to each other. */
import type { TransactionsOpened } from "../protocol";

export type ToTransactions =
  | { type: "opening"; title: string }
  | { type: "trouble"; text: string }
  | { type: "show"; title: string; opened: TransactionsOpened };

export type FromTransactions = { type: "ready" } | { type: "again" };
