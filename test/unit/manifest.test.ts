import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { hoverCommands } from "../../extension/core/protocol";

const root = path.resolve(__dirname, "../..");
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const sources = [
  "extension.ts",
  ...readdirSync(path.join(root, "extension/features")).map((file) => `features/${file}`),
]
  .map((file) => readFileSync(path.join(root, "extension", file), "utf8"))
  .join("\n");
const commands: string[] = manifest.contributes.commands.map((entry: { command: string }) => entry.command);

test("every command of the manifest is implemented", () => {
  expect(commands.filter((command) => !sources.includes(`"${command}"`))).toEqual([]);
});

test("every command of a menu, a link or a hover is in the manifest", () => {
  const text = JSON.stringify(manifest.contributes);
  const linked = [...text.matchAll(/command:(fulcrum\.[\w.]+)/g)].map((match) => match[1] as string);
  const inMenus = Object.values(manifest.contributes.menus as Record<string, { command?: string }[]>)
    .flat()
    .flatMap((entry) => (entry.command === undefined ? [] : [entry.command]));
  expect([...linked, ...inMenus, ...hoverCommands].filter((command) => !commands.includes(command))).toEqual([]);
});

test("every setting that the code reads is in the manifest with the same default kind", () => {
  const properties = Object.assign(
    {},
    ...manifest.contributes.configuration.map((group: { properties: object }) => group.properties),
  );
  const read = [...sources.matchAll(/getConfiguration\("fulcrum"[^)]*\)\s*\.get<[^>]*>\("([\w.]+)"/g)].map(
    (match) => `fulcrum.${match[1]}`,
  );
  const inGutter = [...sources.matchAll(/settings\.get<[^>]*>\("([\w.]+)"/g)].map((match) => `fulcrum.${match[1]}`);
  expect([...read, ...inGutter].length).toBeGreaterThan(5);
  expect([...read, ...inGutter].filter((name) => !(name in properties))).toEqual([]);
});

test("every colour that the code names is in the manifest, and no other", () => {
  const named = [...sources.matchAll(/"(fulcrum\.(?:\w+Foreground|overviewRuler\w+))"/g)].map((match) => match[1]);
  const known = manifest.contributes.colors.map(({ id }: { id: string }) => id);
  expect([...new Set(named)].sort()).toEqual(known.sort());
});

test("the path of a program that the editor starts is not read from an untrusted workspace", () => {
  expect(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations).toContain("fulcrum.enginePath");
});

test("every file that the manifest names is there", () => {
  const named = [...JSON.stringify(manifest.contributes).matchAll(/"(?:\.\/)?((?:media|syntaxes)\/[^"]+)"/g)];
  expect(named.length).toBeGreaterThan(4);
  for (const [, file] of named) {
    expect(readFileSync(path.join(root, file as string)).length).toBeGreaterThan(0);
  }
});
