/** inferno, which makes flame graphs from folded stacks. */
import { existsSync } from "node:fs";
import path from "node:path";
import { root, run, step } from "../../lib/steps.mjs";

/** It does not print its version. */
const version = "0.12.8";

/** cargo builds it once, into out/bench/tools. */
export async function findInferno() {
  const folder = path.join(root, "out", "bench", "tools");
  const program = path.join(folder, "bin", "inferno-flamegraph");
  if (!existsSync(program)) {
    const wanted = ["inferno", "--version", version, "--locked", "--quiet", "--root", folder];
    await step("inferno", () => run("cargo", ["install", ...wanted]));
  }
  return { program, version: `inferno ${version}` };
}
