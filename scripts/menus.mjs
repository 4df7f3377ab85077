/** `npm run menus`: writes the menus of extension/core/menus.ts into package.json. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { main, root, StepError } from "./lib/steps.mjs";

/** @returns {Promise<typeof import("../extension/core/menus")>} */
async function readMenus() {
  const entry = path.join(root, "extension", "core", "menus.ts");
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: "esm" });
  const [file] = outputFiles;
  return import(`data:text/javascript;base64,${Buffer.from(file?.contents ?? "").toString("base64")}`);
}

/**
 * The manifest with one menu replaced. The rest of the text stays as it is.
 * @param {string} manifest
 * @param {string} menu
 * @param {readonly object[]} entries
 */
function withMenu(manifest, menu, entries) {
  const start = manifest.indexOf(`\n      "${menu}": [`);
  const end = manifest.indexOf("\n      ]", start);
  if (start < 0 || end < 0) {
    throw new StepError(`package.json has no menu ${menu} where it is looked for: "${menu}": [ … ], indented by six.`);
  }
  const text = JSON.stringify(entries, null, 2).replaceAll("\n", "\n      ");
  return `${manifest.slice(0, start)}\n      "${menu}": ${text}${manifest.slice(end + "\n      ]".length)}`;
}

await main(import.meta.url, async () => {
  const file = path.join(root, "package.json");
  const { fileMenus } = await readMenus();
  const before = readFileSync(file, "utf8");
  writeFileSync(
    file,
    Object.entries(fileMenus).reduce((text, [menu, entries]) => withMenu(text, menu, entries), before),
  );
});
