/** The rules that make names alike: how they are listed, chosen and kept, and what they changed in a profile. */

import type { NavigatorNameRule, NavigatorNames } from "../engine/protocol";
import { count } from "../text/format";

/** A rule as an entry of a list to pick from. */
export interface RuleItem {
  label: string;
  description: string;
  picked: boolean;
}

export function ruleItems(rules: readonly NavigatorNameRule[]): RuleItem[] {
  return rules.map(({ name, before, after, applied, names }) => ({
    label: name,
    description: `${before} → ${after}${names === 0 ? "" : ` · ${count(names, "name")} here`}`,
    picked: applied,
  }));
}

/** The setting that applies the picked rules and no others: `undefined` when they are the default ones. */
export function settingOf(rules: readonly NavigatorNameRule[], picked: readonly string[]): string[] | undefined {
  const wanted = rules.filter(({ name }) => picked.includes(name));
  if (wanted.length === 0) {
    return ["none"];
  }
  const more = wanted.filter((rule) => !rule.byDefault).map((rule) => rule.name);
  const hasDefault = rules.every((rule) => !rule.byDefault || wanted.includes(rule));
  if (!hasDefault) {
    return wanted.map((rule) => rule.name);
  }
  return more.length === 0 ? undefined : ["default", ...more];
}

/** The rules as the engine takes them. An empty list means no rules. */
export function rulesText(setting: readonly string[]): string {
  return setting.length === 0 ? "none" : setting.join(",");
}

/** Every name that was changed, before and after, as Markdown. */
export function namesMarkdown(title: string, { version, renamed, more }: NavigatorNames): string {
  const all = renamed.length + more;
  const cell = (text: string) => {
    const inside = text.replaceAll("|", "\\|");
    return text.includes("`") ? `\`\` ${inside} \`\`` : `\`${inside}\``;
  };
  const rows = renamed.map(({ raw, name, rules }) => `| ${cell(raw)} | ${cell(name)} | ${rules.join(", ")} |`);
  const head = `# Names in ${title.replaceAll(/[\\`*_[\]<>]/g, "\\$&")}\n\n`;
  const said = `${count(all, "name")} changed by rules, version ${version}.\n`;
  if (all === 0) {
    return head + said;
  }
  const rest = more === 0 ? "" : `\n${count(more, "more name")}.\n`;
  return `${head}${said}\n| in the file | in paths | by |\n| --- | --- | --- |\n${rows.join("\n")}\n${rest}`;
}
