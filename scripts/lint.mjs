/** `npm run lint`: formatting, warnings and types of both languages. Runs all checks, even after a failure. */
import path from "node:path";
import { installPackages } from "./bootstrap.mjs";
import { engine, main, root, StepError, seconds, target, tryRun } from "./lib/steps.mjs";
import { checkTools } from "./lib/tools.mjs";

const inPackages = (...parts) => path.join(root, "node_modules", ...parts);

// clippy and xtask use the release profile, to share build scripts and macros with the product's build.
/** @type {[name: string, command: string, args: string[], cwd: string][]} */
const checks = [
  ["rustfmt", "cargo", ["fmt", "--all", "--check"], engine],
  [
    "clippy",
    "cargo",
    ["clippy", "--workspace", "--all-targets", "--release", "--quiet", "--", "-D", "warnings"],
    engine,
  ],
  // `--all-targets` does not include these, because `cargo test` leaves them out.
  [
    "clippy of campaigns",
    "cargo",
    ["clippy", "--workspace", "--test", "campaigns", "--release", "--quiet", "--", "-D", "warnings"],
    engine,
  ],
  ["biome", process.execPath, [inPackages("@biomejs", "biome", "bin", "biome"), "check", "--error-on-warnings"], root],
  ["tsc", process.execPath, [inPackages("typescript", "bin", "tsc"), "--noEmit", "-p", "."], root],
  [
    "tsc of scripts",
    process.execPath,
    [inPackages("typescript", "bin", "tsc"), "--noEmit", "-p", "tsconfig.scripts.json"],
    root,
  ],
  // With the features of the whole workspace, so that what it uses is not compiled once more for it alone.
  ["xtask", "cargo", ["build", "--workspace", "--bin", "fulcrum-xtask", "--release", "--quiet"], engine],
  ["xtask check", path.join(target, "release", "fulcrum-xtask"), ["check"], engine],
];

await main(import.meta.url, async () => {
  await checkTools({ tests: false });
  await installPackages();
  const failed = [];
  for (const [name, command, args, cwd] of checks) {
    const start = Date.now();
    const { code, output } = await tryRun(command, args, { cwd });
    if (code !== 0) {
      failed.push(name);
      console.error(output.trimEnd());
    }
    console.log(`${name.padEnd(34)} ${seconds(Date.now() - start)}${code === 0 ? "" : "  FAILED"}`);
  }
  if (failed.length > 0) {
    throw new StepError(`lint failed: ${failed.join(", ")}`);
  }
});
