/** `npm run gallery`: pictures of every view in every theme, in out/gallery. */
import path from "node:path";
import { bootstrap } from "./bootstrap.mjs";
import { main, root, run } from "./lib/steps.mjs";
import { packageExtension, unpackExtension } from "./package.mjs";

await main(import.meta.url, async () => {
  await bootstrap({ tests: true });
  await packageExtension();
  const extension = unpackExtension(path.join(root, "out", "extension"));
  const env = { FULCRUM_EXTENSION_DIR: extension, FULCRUM_ENGINE: path.join(extension, "bin", "fulcrum") };
  await run(process.execPath, [path.join(root, "test", "ui", "gallery.mjs")], { env });
});
