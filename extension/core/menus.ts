/**
 * The menus of files and folders. A menu is there before the extension is, so that the manifest has to hold what they test;
 * `npm run menus` writes it from here, and a test compares.
 */
import { profilePattern } from "./profileFiles";

export interface MenuEntry {
  command: string;
  when: string;
  group: string;
}

/** The context key that lists the run folders which hold traces: a run's path does not say what it is. */
export const traceRunsKey = "fulcrum.traceRuns";

const profile = `resourceFilename =~ /${profilePattern.source}/`;
const run = String.raw`resourcePath =~ /[\/\\]\.fulcrum[\/\\]runs[\/\\][^\/\\]+$/`;
const causal = String.raw`(resourceExtname == .coz || ${run} || resourceFilename =~ /^causal-.*\.jsonl$/)`;
const eventLog = String.raw`resourceFilename =~ /^events-.*\.log$/`;
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
    entry("trace.open", `${eventLog} || ${run}`, "navigation@91"),
    entry("transactions.open", `resourceExtname == .txlog || ${run}`, "navigation@93"),
    entry("trace.refine", `${eventLog} || resourcePath in ${traceRunsKey}`, "navigation@92"),
    entry("compare.select", `${one} && ${causal}`, "3_compare@90"),
    entry("compare.withSelected", `fulcrum.compareSelected && ${one} && ${causal}`, "3_compare@91"),
    entry("compare.runs", `${two} && ${causal}`, "3_compare@90"),
  ],
  "editor/title": [
    entry("causal.open", "resourceExtname == .coz", "navigation@1"),
    entry("profile.open", profile, "navigation@1"),
  ],
};

function entry(command: string, when: string, group: string): MenuEntry {
  return { command: `fulcrum.${command}`, when, group };
}
