import { expect, test } from "vitest";
import type { NavigatorNameRule } from "../../extension/core/engine/protocol";
import { namesMarkdown, ruleItems, rulesText, settingOf } from "../../extension/core/navigator/names";

function rule(name: string, byDefault: boolean, more: Partial<NavigatorNameRule> = {}): NavigatorNameRule {
  return { name, before: `${name} 1`, after: name, byDefault, applied: byDefault, names: 0, ...more };
}

const rules = [
  rule("demangle", true, { names: 1 }),
  rule("source-line", false),
  rule("address", true, { names: 1200 }),
];

test("the list shows what each rule does, where it changed something, and whether it is applied", () => {
  expect(ruleItems(rules)).toEqual([
    { label: "demangle", description: "demangle 1 → demangle · 1\u00a0name here", picked: true },
    { label: "source-line", description: "source-line 1 → source-line", picked: false },
    { label: "address", description: "address 1 → address · 1200\u00a0names here", picked: true },
  ]);
});

test("the setting holds differences from the default, so that users who added a rule get new default rules", () => {
  expect(settingOf(rules, ["demangle", "address"])).toBeUndefined();
  expect(settingOf(rules, ["address", "source-line", "demangle"])).toEqual(["default", "source-line"]);
  expect(settingOf(rules, ["address"])).toEqual(["address"]);
  expect(settingOf(rules, ["source-line", "address"])).toEqual(["source-line", "address"]);
  expect(settingOf(rules, [])).toEqual(["none"]);
});

test("the engine gets all rules in one string", () => {
  expect(rulesText(["default", "source-line"])).toBe("default,source-line");
  expect(rulesText([])).toBe("none");
});

test("names before and after are a table, and no name breaks a cell", () => {
  const renamed = [
    { raw: "_Zor", name: "operator|", rules: ["demangle"] },
    { raw: "`f'2", name: "`f'", rules: ["demangle", "recursion-level"] },
  ];
  expect(namesMarkdown("a_b.folded", { version: 1, rules, renamed, more: 3 })).toBe(`# Names in a\\_b.folded

5\u00a0names changed by rules, version 1.

| in the file | in paths | by |
| --- | --- | --- |
| \`_Zor\` | \`operator\\|\` | demangle |
| \`\` \`f'2 \`\` | \`\` \`f' \`\` | demangle, recursion-level |

3\u00a0more names.
`);
  expect(namesMarkdown("x", { version: 1, rules, renamed: [], more: 0 })).toBe(
    "# Names in x\n\n0\u00a0names changed by rules, version 1.\n",
  );
});
