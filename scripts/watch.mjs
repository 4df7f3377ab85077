/**
 * `npm run watch`: bundles the extension into dist, and again whenever a source changes, until Ctrl-C.
 *
 * The lines are read by the problem matcher in .vscode/tasks.json.
 */
import path from "node:path";
import { installPackages } from "./bootstrap.mjs";
import { watchExtension } from "./lib/bundle.mjs";
import { main, root } from "./lib/steps.mjs";

await main(import.meta.url, async () => {
  await installPackages();
  await watchExtension(path.join(root, "dist"), {
    begin: () => console.log("watch: building"),
    end: (errors) => {
      for (const { location, text } of errors) {
        const place =
          location === null ? "" : `${path.resolve(location.file)}:${location.line}:${location.column + 1}: `;
        console.log(`${place}error: ${text}`);
      }
      console.log(errors.length === 0 ? "watch: built" : "watch: failed");
    },
  });
});
