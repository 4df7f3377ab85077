/** `npm run package`: fulcrum-linux-x64.vsix, and unpacking it, so that whatever is tested was packaged. */
import { chmodSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { bootstrap } from "./bootstrap.mjs";
import { main, root, run, StepError, step } from "./lib/steps.mjs";
import { unzip } from "./lib/unzip.mjs";

const platform = `linux-${process.arch}`;
export const vsix = path.join(root, `fulcrum-${platform}.vsix`);
const limit = 6e6;

/** Packages what bootstrap built. Throws when the file is larger than an extension should be. */
export async function packageExtension() {
  await step("package", async () => {
    rmSync(vsix, { force: true });
    const vsce = path.join(root, "node_modules", "@vscode", "vsce", "vsce");
    const options = ["--no-dependencies", "--no-rewrite-relative-links", "--allow-missing-repository"];
    await run(process.execPath, [vsce, "package", "--target", platform, ...options, "--out", vsix]);
    const { size } = statSync(vsix);
    if (size > limit) {
      throw new StepError(`${path.basename(vsix)} has ${mb(size)}, more than ${mb(limit)}: look at .vscodeignore.`);
    }
  });
  return vsix;
}

/**
 * Unpacks the VSIX as VS Code does when it installs it.
 * @param {string} folder
 * @returns {string} the folder, for `startEditor({ extensions: [folder] })`
 */
export function unpackExtension(folder) {
  rmSync(folder, { recursive: true, force: true });
  unzip(vsix, folder, "extension/");
  // ZIP files of some packers lose the permission.
  chmodSync(path.join(folder, "bin", "fulcrum"), 0o755);
  return folder;
}

export function mb(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

await main(import.meta.url, async () => {
  await bootstrap();
  await packageExtension();
  console.log(`${path.basename(vsix)}, ${mb(statSync(vsix).size)}`);
});
