import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { hoverCommands } from "../../extension/core/engine/protocol";
import { colors } from "../../extension/core/manifest";
import { themeColours } from "../../extension/core/themeColours";

const root = path.resolve(__dirname, "../..");
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const sources = [
  "extension.ts",
  ...readdirSync(path.join(root, "extension/features"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `features/${file}`),
]
  .map((file) => readFileSync(path.join(root, "extension", file), "utf8"))
  .join("\n");
const commands: string[] = manifest.contributes.commands.map((entry: { command: string }) => entry.command);

test("every command in the manifest is implemented", () => {
  expect(commands.filter((command) => !sources.includes(`"${command}"`))).toEqual([]);
});

test("every command in a menu, a link or a hover is in the manifest", () => {
  const text = JSON.stringify(manifest.contributes);
  const linked = [...text.matchAll(/command:(fulcrum\.[\w.]+)/g)].map((match) => match[1] as string);
  const inMenus = Object.values(manifest.contributes.menus as Record<string, { command?: string }[]>)
    .flat()
    .flatMap((entry) => (entry.command === undefined ? [] : [entry.command]));
  expect([...linked, ...inMenus, ...hoverCommands].filter((command) => !commands.includes(command))).toEqual([]);
});

test("every setting that the code reads is in the manifest, with a default of the same type", () => {
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

test("the manifest has the colours that `npm run menus` writes, and the code uses no others", () => {
  expect(manifest.contributes.colors).toEqual(JSON.parse(JSON.stringify(colors)));
  const known = new Set(Object.keys(themeColours));
  const named = [...sources.matchAll(/"(fulcrum\.(?:\w+Foreground|overviewRuler\w+|gutter(?!Choice)[A-Z]\w+))"/g)].map(
    ([, id]) => id,
  );
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((id) => !known.has(id ?? ""))).toEqual([]);
});

/** All files below a folder of the repository. */
function filesIn(folder: string, ending: RegExp): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => ending.test(file))
    .map((file) => path.join(folder, file));
}

test("every colour is a theme colour: only one file has colour values", () => {
  const files = [...filesIn("extension", /\.ts$/), ...filesIn("media", /\.css$/)];
  const fixed = files
    .filter((file) => !file.endsWith("themeColours.ts"))
    .flatMap((file) => {
      const found = readFileSync(path.join(root, file), "utf8").match(/#[0-9a-f]{6}\b|\brgba?\(\s*\d/gi) ?? [];
      return found.map((colour) => `${file}: ${colour}`);
    });
  expect(fixed).toEqual([]);
});

test("every colour in a style sheet is one of ours or one of the editor's", () => {
  const ids = new Set(Object.keys(themeColours).map((id) => id.replaceAll(".", "-")));
  const named = filesIn("media", /\.css$/).flatMap((file) => [
    ...readFileSync(path.join(root, file), "utf8").matchAll(/--vscode-(fulcrum-[\w-]+)/g),
  ]);
  expect(named.length).toBeGreaterThan(8);
  expect(named.map(([, id]) => id).filter((id) => !ids.has(id ?? ""))).toEqual([]);
});

test("each panel that is restored after a reload activates the extension", () => {
  const made = sources.matchAll(/new (?:Page|Pair)Panels\(\s*"([\w.]+)"/g);
  const kinds = [...made].map(([, kind]) => `onWebviewPanel:${kind}`);
  expect(kinds.length).toBeGreaterThan(6);
  expect(kinds.filter((event) => !manifest.activationEvents.includes(event))).toEqual([]);
  expect(manifest.activationEvents).not.toContain("onStartupFinished");
});

test("paths to programs are not read from an untrusted workspace", () => {
  expect(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations).toContain("fulcrum.enginePath");
});

test("every file that the manifest names exists", () => {
  const named = [...JSON.stringify(manifest.contributes).matchAll(/"(?:\.\/)?((?:media|syntaxes)\/[^"]+)"/g)];
  expect(named.length).toBeGreaterThan(4);
  for (const [, file] of named) {
    expect(readFileSync(path.join(root, file as string)).length).toBeGreaterThan(0);
  }
});
