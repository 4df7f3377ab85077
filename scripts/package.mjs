/** `npm run package`: builds fulcrum-linux-x64.vsix, and unpacks it, so that tests use what was packaged. */
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { bootstrap } from "./bootstrap.mjs";
import { main, root, run, StepError, step } from "./lib/steps.mjs";
import { unzip } from "./lib/unzip.mjs";

const platform = `linux-${process.arch}`;
export const vsix = path.join(root, `fulcrum-${platform}.vsix`);
/**
 * The size limit in bytes. Most of it is the engine: the grammars of seven languages, Arrow and Parquet (2 MB), and function
 * names (1 MB), so that a panic in the log says where it was. Cold libraries are not optimised (engine/Cargo.toml), which adds
 * half a megabyte. The library for transactional profiling has a disassembler (0.3 MB).
 */
const limit = 15e6;

/** The extension's files; README.md and CHANGELOG.md if they exist. */
const parts = [
  ...["package.json", "README.md", "CHANGELOG.md", "LICENSE", "media", "syntaxes"],
  ...["dist/extension.js", "dist/webview", "bin/fulcrum", "bin/libfulcrum_runtime.so", "bin/libfulcrum_jvm_agent.so"],
  ...["bin/libfulcrum_native_agent.so", "bin/libfulcrum_transaction_runtime.so"],
  "bin/include",
];

/** Packages what bootstrap built. Throws if the file is larger than an extension should be. */
export async function packageExtension() {
  await step("package", async () => {
    // vsce walks the whole folder, so it gets one with nothing else in it.
    const stage = path.join(root, "out", "package");
    rmSync(stage, { recursive: true, force: true });
    mkdirSync(stage, { recursive: true });
    for (const part of parts.filter((name) => existsSync(path.join(root, name)))) {
      cpSync(path.join(root, part), path.join(stage, part), { recursive: true });
    }
    rmSync(vsix, { force: true });
    const vsce = path.join(root, "node_modules", "@vscode", "vsce", "vsce");
    const options = ["--no-dependencies", "--no-rewrite-relative-links", "--allow-missing-repository"];
    await run(process.execPath, [vsce, "package", "--target", platform, ...options, "--out", vsix], { cwd: stage });
    const { size } = statSync(vsix);
    if (size > limit) {
      throw new StepError(`${path.basename(vsix)} has ${mb(size)}, more than ${mb(limit)}. Check its content.`);
    }
  });
  return vsix;
}

/**
 * Unpacks the VSIX as VS Code does on installation.
 * @param {string} folder
 * @returns {string} the folder, for `startEditor({ extensions: [folder] })`
 */
export function unpackExtension(folder) {
  rmSync(folder, { recursive: true, force: true });
  unzip(vsix, folder, "extension/");
  // Some packers lose the permission.
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
