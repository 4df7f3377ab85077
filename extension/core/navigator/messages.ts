/** What the Navigator's view and the extension say to each other. */
import type { NavigatorStep } from "../engine/protocol";
import type { RowModel } from "./lists";
import type { NavigatorModel } from "./model";

/** What the view shows. */
export type NavigatorShown =
  | { kind: "empty"; again: string | null }
  | { kind: "opening"; title: string; message: string; fraction: number | null }
  | { kind: "trouble"; title: string; text: string; again: boolean }
  | { kind: "open"; model: NavigatorModel };

export type ToNavigator =
  | { type: "show"; shown: NavigatorShown }
  | { type: "rows"; revision: number; step: NavigatorStep; from: number; rows: RowModel[] }
  /** A command takes long enough that the user needs a sign of progress. */
  | { type: "busy"; busy: boolean }
  /** The editor has noticed this change of focus: from now on its keybindings for the Navigator work. */
  | { type: "keys"; turn: number };

export type FromNavigator =
  | { type: "ready" }
  | { type: "focus"; focused: boolean; turn: number }
  | { type: "rows"; revision: number; step: NavigatorStep; from: number; count: number }
  /** A number means the row that the view of this revision showed. */
  | { type: "select"; revision: number; number: number }
  | { type: "goTo"; revision: number; at: number }
  | { type: "frame"; name: string }
  | { type: "label"; name: string; action: "show" | "remove" | "unlabel" }
  | { type: "cancel" }
  | { type: "run"; command: string };

/** Commands that a button of the view may run: nothing else comes through. */
export const viewCommands: readonly string[] = [
  "fulcrum.profile.open",
  "fulcrum.profile.openAgain",
  "fulcrum.navigator.suggest",
  "fulcrum.navigator.toggleSuggester",
  "fulcrum.navigator.toggleZoom",
  "fulcrum.navigator.cutoff",
  "fulcrum.navigator.find",
  "fulcrum.navigator.back",
  "fulcrum.navigator.forward",
  "fulcrum.navigator.nearby",
  "fulcrum.navigator.label",
  "fulcrum.navigator.value",
  "fulcrum.navigator.findBottlenecks",
  "fulcrum.navigator.flameGraph",
  "fulcrum.navigator.flamePath",
  "fulcrum.navigator.report",
  "fulcrum.navigator.keys",
];
