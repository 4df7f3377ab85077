/** inferno, which makes flame graphs of folded stacks. */
import { existsSync } from "node:fs";
import path from "node:path";
import { root, run, step, tryRun, which } from "../../lib/steps.mjs";

const version = "0.12.8";

/** The one in PATH, else one that cargo builds into out/bench/tools. */
export async function findInferno() {
  const folder = path.join(root, "out", "bench", "tools");
  const built = path.join(folder, "bin", "inferno-flamegraph");
  const program = which("inferno-flamegraph") ?? built;
  if (!existsSync(program)) {
    const wanted = ["inferno", "--version", version, "--locked", "--quiet", "--root", folder];
    await step("inferno", () => run("cargo", ["install", ...wanted]));
  }
  const { stdout } = await tryRun(program, ["--version"]);
  return { program, version: stdout.trim() };
}
