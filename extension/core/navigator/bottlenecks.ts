/** What the automatic search found, as a list to choose from. */
import { costText, pathText, shareText } from "../cost";
import { shortName } from "../flame/layout";
import { count } from "../format";
import type { NavigatorAutomatic, NavigatorSuggestion } from "../protocol";

export interface SuggestionEntry {
  label: string;
  description: string;
  detail: string;
  suggestion: NavigatorSuggestion;
}

/** Name and share in one line, the reason below, then the path. */
export function suggestionItems(found: NavigatorAutomatic, unit: string): SuggestionEntry[] {
  return found.suggestions.map((suggestion) => ({
    label: suggestion.label,
    description: `${shareText(suggestion.marginal)} · cum ${costText(suggestion.cum, unit)} · ${count(suggestion.path.length, "frame")}`,
    detail: `${suggestion.why} ${pathText(suggestion.path.map(shortName))}`,
    suggestion,
  }));
}

/** `14 bottlenecks cover 84.1 % of the cost`. */
export function summaryOf(found: NavigatorAutomatic): string {
  const many = count(found.suggestions.length, "bottleneck");
  const verb = found.suggestions.length === 1 ? "covers" : "cover";
  const before = found.labelled === 0 ? "" : `, labels before them ${shareText(found.labelled)}`;
  return `${many} ${verb} ${shareText(found.coverage - found.labelled)} of the cost${before}`;
}
