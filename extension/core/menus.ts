/**
 * The menus of files and folders, and which files open by a double click. They are there before the extension is, so that
 * the manifest has to hold what they test; `npm run menus` writes it from here, and a test compares.
 */
import { ambiguousEndings, offeredGlobs, openedGlobs, profilePattern } from "./profiles/profileFiles";

export interface MenuEntry {
  command: string;
  when: string;
  group: string;
}

/** The context keys that list run folders by what they hold: a run's path does not say what it is. */
export const runKeys = {
  causal: "fulcrum.causalRuns",
  events: "fulcrum.traceRuns",
  transactions: "fulcrum.transactionRuns",
} as const;

/** The context key that lists files which are profiles by their content, though their names do not say so. */
export const profilesKey = "fulcrum.profiles";

const lookedAt = `resourceExtname =~ /^\\.(${ambiguousEndings.join("|")})$/ && resourcePath in ${profilesKey}`;
const profile = `(resourceFilename =~ /${profilePattern.source}/ || ${lookedAt})`;
const causal = String.raw`(resourceExtname == .coz || resourcePath in ${runKeys.causal} || resourceFilename =~ /^causal-.*\.jsonl$/)`;
const trace = String.raw`(resourceFilename =~ /^events-.*\.log$/ || resourcePath in ${runKeys.events})`;
const comparable = String.raw`(resourceExtname == .coz || resourcePath in ${runKeys.causal} || resourcePath in ${runKeys.events} || resourcePath in ${runKeys.transactions} || resourceFilename =~ /^causal-.*\.jsonl$/)`;
const one = "!listDoubleSelection";
const two = "listDoubleSelection";

/** By the manifest's names of the menus. */
export const fileMenus: Readonly<Record<string, readonly MenuEntry[]>> = {
  "explorer/context": [
    entry("profile.open", `${one} && ${profile}`, "navigation@90"),
    entry("profile.select", profile, "3_compare@90"),
    entry("profile.withSelected", `fulcrum.profileSelected && ${profile}`, "3_compare@91"),
    entry("profile.compare", `${two} && ${profile}`, "3_compare@92"),
    entry("causal.open", causal, "navigation@90"),
    entry("trace.open", trace, "navigation@91"),
    entry("trace.refine", trace, "navigation@92"),
    entry("transactions.open", `resourceExtname == .txlog || resourcePath in ${runKeys.transactions}`, "navigation@93"),
    entry("compare.select", `${one} && ${comparable}`, "3_compare@90"),
    entry("compare.withSelected", `fulcrum.compareSelected && ${one} && ${comparable}`, "3_compare@91"),
    entry("compare.runs", `${two} && ${comparable}`, "3_compare@90"),
  ],
  "editor/title": [
    entry("causal.open", "resourceExtname == .coz", "navigation@1"),
    entry("profile.open", profile, "navigation@1"),
  ],
};

export interface CustomEditor {
  viewType: string;
  displayName: string;
  selector: readonly { filenamePattern: string }[];
  priority: "default" | "option";
}

/** What is recorded in a workspace; those of others may be text. */
const recorded = "**/.fulcrum/runs/*/{run.json,causal-*.jsonl,events-*.log}";

/** Files that a double click opens, and those for which it is offered beside the text editor. */
export const customEditors: readonly CustomEditor[] = [
  {
    viewType: "fulcrum.file",
    displayName: "Fulcrum",
    selector: patterns([...openedGlobs, "*.{coz,txlog}", recorded]),
    priority: "default",
  },
  {
    viewType: "fulcrum.fileAsked",
    displayName: "Fulcrum, as a Profile or Trace",
    selector: patterns([...offeredGlobs, "events-*.log", "causal-*.jsonl"]),
    priority: "option",
  },
];

function entry(command: string, when: string, group: string): MenuEntry {
  return { command: `fulcrum.${command}`, when, group };
}

function patterns(globs: readonly string[]): { filenamePattern: string }[] {
  return globs.map((filenamePattern) => ({ filenamePattern }));
}
