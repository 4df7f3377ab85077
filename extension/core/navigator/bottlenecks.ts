/** What the automatic search found, as a list to choose from. */

import type { NavigatorAutomatic, NavigatorSuggestion, NavigatorWhole } from "../engine/protocol";
import { shortName } from "../flame/layout";
import { foldedNames } from "../profiles/recursion";
import { costText, isMoreThanAll, shareText } from "../text/cost";
import { count } from "../text/format";

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
  const names = foldedNames(path, shortName);
  return [...(names.length > NAMES ? ["…"] : []), ...names.slice(-NAMES)].join(" → ");
}

const WHOLES: Record<NavigatorWhole, string> = {
  total: "the cost",
  difference: "the difference",
  costlier: "what became costlier",
};

/** Why there is nothing. */
export function nothingFound(found: NavigatorAutomatic): string {
  if (found.total !== 0) {
    return "There is no bottleneck besides the labels: the rest is spread over many paths.";
  }
  const none: Record<NavigatorWhole, string> = {
    total: "the profile costs nothing",
    difference: "every function's own cost is the same on both sides",
    costlier: "no function's own cost differs by more than noise",
  };
  return `There is no bottleneck to find: ${none[found.of]}.`;
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
