/** What the automatic search found, as a list to choose from. */
import { costText, isMoreThanAll, pathText, shareText } from "../cost";
import { shortName } from "../flame/layout";
import { count } from "../format";
import type { NavigatorAutomatic, NavigatorSuggestion, NavigatorWhole } from "../protocol";

export interface SuggestionEntry {
  label: string;
  description: string;
  detail: string;
  suggestion: NavigatorSuggestion;
}

/** Names of a path that fit before its reason: the innermost ones. */
const NAMES = 4;

/** Name and share in one line; below them the end of the path, and then the reason, which a narrow window cuts. */
export function suggestionItems(found: NavigatorAutomatic, unit: string): SuggestionEntry[] {
  return found.suggestions.map((suggestion) => ({
    label: suggestion.label,
    description: `${shareText(suggestion.marginal)} · cum ${costText(suggestion.cum, unit)} · ${count(suggestion.path.length, "frame")}`,
    detail: `${endOf(suggestion.path)} · ${suggestion.why}`,
    suggestion,
  }));
}

function endOf(path: readonly string[]): string {
  const names = path.slice(-NAMES).map(shortName);
  return pathText(path.length > NAMES ? ["…", ...names] : names);
}

const WHOLES: Record<NavigatorWhole, string> = {
  total: "the cost",
  difference: "the difference",
  costlier: "what became costlier",
};

/** Why there is nothing. */
export function nothingFound(found: NavigatorAutomatic): string {
  if (found.total !== 0) {
    return "There is no bottleneck to find beside the labels: what is left is spread over many paths.";
  }
  return found.of === "total"
    ? "There is no bottleneck to find: the profile costs nothing."
    : "There is no bottleneck to find: every function's own cost is the same on both sides.";
}

/** `14 bottlenecks cover 84.1 % of the cost`. */
export function summaryOf(found: NavigatorAutomatic): string {
  const many = count(found.suggestions.length, "bottleneck");
  const verb = found.suggestions.length === 1 ? "covers" : "cover";
  const before = found.labelled === 0 ? "" : `, labels before them ${shareText(found.labelled)}`;
  const part = found.coverage - found.labelled;
  const share = found.of === "total" && isMoreThanAll(part) ? "all" : shareText(part);
  return `${many} ${verb} ${share} of ${WHOLES[found.of]}${before}`;
}
