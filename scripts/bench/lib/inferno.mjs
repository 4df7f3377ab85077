/** inferno, which makes flame graphs of folded stacks. */
import { existsSync } from "node:fs";
import path from "node:path";
import { root, run, step } from "../../lib/steps.mjs";

/** It does not tell its version itself. */
const version = "0.12.8";

/** Built by cargo into out/bench/tools, once. */
export async function findInferno() {
  const folder = path.join(root, "out", "bench", "tools");
  const program = path.join(folder, "bin", "inferno-flamegraph");
  if (!existsSync(program)) {
    const wanted = ["inferno", "--version", version, "--locked", "--quiet", "--root", folder];
    await step("inferno", () => run("cargo", ["install", ...wanted]));
  }
  return { program, version: `inferno ${version}` };
}
