/** A file that was opened by a double click: what it is, what its tab says, and which commands the tab offers. */
import * as path from "node:path";
import type { RunKind } from "../engine/protocol";
import { isTransactionLog, kindOfFiles, runFolderOf } from "../runs/runsOnDisk";
import { isEventLog } from "../trace/runs";
import { isCausal } from "./profileFiles";

/** What shows it. A run whose folder says nothing is `unknown`. */
export type FileKind = "causal" | "profile" | "trace" | "transactions" | "unknown";

/** The kind of a file by its name; of a run's manifest by the files beside it. */
export function kindOfFile(file: string, beside: readonly string[]): FileKind {
  if (isEventLog(file)) {
    return "trace";
  }
  if (isTransactionLog(file)) {
    return "transactions";
  }
  if (path.basename(file) === "run.json" && runFolderOf(file) !== file) {
    const kinds: Record<RunKind, FileKind> = {
      causal: "causal",
      events: "trace",
      transactions: "transactions",
      unknown: "unknown",
    };
    return kinds[kindOfFiles(beside)];
  }
  return isCausal(file) ? "causal" : "profile";
}

/** What became of its results. */
export type FileState =
  | { kind: "opening" }
  | { kind: "open" }
  /** Nothing is open, or something else is. */
  | { kind: "left"; other: string | null }
  | { kind: "trouble"; text: string };

export interface FileAction {
  text: string;
  /** A command of the extension, or one of the tab's own: `open`, `text`. */
  command: string;
}

/** What the tab of a causal profile or of a profile shows: their results are shown elsewhere. */
export interface FilePage {
  title: string;
  says: string;
  trouble: boolean;
  /** The first is what most people want next. */
  actions: FileAction[];
}

const asText: FileAction = { text: "Open as Text", command: "text" };

const next: Record<"causal" | "profile", { says: string; actions: FileAction[] }> = {
  causal: {
    says: "Its results are shown beside their lines, and in the Ranking, the best line first.",
    actions: [
      { text: "Go to the Best Line", command: "fulcrum.ranking.goto" },
      { text: "Show Ranking", command: "fulcrum.ranking.open" },
      { text: "Compare with Another Run…", command: "fulcrum.compare.runs" },
    ],
  },
  profile: {
    says: "It is open in the Navigator. Let the search find what costs most, or look for it yourself.",
    actions: [
      { text: "Find Bottlenecks", command: "fulcrum.navigator.findBottlenecks" },
      { text: "Show Navigator", command: "fulcrum.navigator.focus" },
      { text: "Show Flame Graph", command: "fulcrum.navigator.flameGraph" },
      { text: "Compare Profiles…", command: "fulcrum.profile.compare" },
    ],
  },
};

export function filePage(kind: "causal" | "profile" | "unknown", title: string, state: FileState): FilePage {
  const open = (text: string): FileAction => ({ text, command: "open" });
  if (kind === "unknown") {
    const says = "This run has nothing to show: it recorded no profile, no trace and no transactions.";
    return { title, says, trouble: true, actions: [asText] };
  }
  switch (state.kind) {
    case "opening":
      return { title, says: "Opening…", trouble: false, actions: [] };
    case "open":
      return { title, says: next[kind].says, trouble: false, actions: [...next[kind].actions, asText] };
    case "left": {
      const says = state.other === null ? "It is not open now." : `It is not open now: ${state.other} is.`;
      return { title, says, trouble: false, actions: [open("Open"), asText] };
    }
    case "trouble":
      return { title, says: state.text, trouble: true, actions: [open("Try Again"), asText] };
  }
}

/** The commands that the page may run. */
export const fileCommands: readonly string[] = Object.values(next).flatMap(({ actions }) =>
  actions.map(({ command }) => command),
);

/** What the tab's page asks. `again`: it was shown before, and is loaded again. */
export type FromFile = { type: "ready" } | { type: "begin"; again: boolean } | { type: "run"; command: string };

export interface ToFile {
  type: "show";
  page: FilePage;
}
