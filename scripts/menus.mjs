/** `npm run menus`: writes the menus, the editors of files and the colours of extension/core/manifest.ts into package.json. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { installPackages } from "./bootstrap.mjs";
import { main, root, StepError } from "./lib/steps.mjs";

/** @returns {Promise<typeof import("../extension/core/manifest")>} */
async function readMenus() {
  await installPackages();
  const { build } = await import("esbuild");
  const entry = path.join(root, "extension", "core", "manifest.ts");
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: "esm" });
  const [file] = outputFiles;
  return import(`data:text/javascript;base64,${Buffer.from(file?.contents ?? "").toString("base64")}`);
}

/**
 * The manifest with one list replaced. The rest of the text is not changed.
 * @param {string} manifest
 * @param {string} name
 * @param {readonly object[]} entries
 * @param {number} indent
 */
function withList(manifest, name, entries, indent) {
  const line = `\n${" ".repeat(indent)}`;
  const start = manifest.indexOf(`${line}"${name}": [`);
  const end = manifest.indexOf(`${line}]`, start);
  if (start < 0 || end < 0) {
    throw new StepError(
      `package.json has no list ${name} of the expected form: "${name}": [ … ], indented by ${indent}.`,
    );
  }
  const text = JSON.stringify(entries, null, 2).replaceAll("\n", line);
  return `${manifest.slice(0, start)}${line}"${name}": ${text}${manifest.slice(end + `${line}]`.length)}`;
}

await main(import.meta.url, async () => {
  const file = path.join(root, "package.json");
  const { colors, customEditors, fileMenus } = await readMenus();
  const before = readFileSync(file, "utf8");
  const menus = Object.entries(fileMenus).reduce((text, [menu, entries]) => withList(text, menu, entries, 6), before);
  writeFileSync(file, withList(withList(menus, "customEditors", customEditors, 4), "colors", colors, 4));
});
