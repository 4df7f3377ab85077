/** Go's execution traces, as Go's own reader reads them: golang.org/x/exp/trace. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { root, run, which } from "../../../lib/steps.mjs";
import { compareSums } from "../folded.mjs";

const source = path.join(import.meta.dirname, "go_trace", "main.go");
const folder = path.join(root, "out", "bench", "tools", "go-trace");
const module = "golang.org/x/exp";
const wanted = "v0.0.0-20261113113407-e3970619a1a4";

/** @param {import("../engine.mjs").Engine} engine */
export async function goTrace(engine) {
  if (which("go") === undefined) {
    return undefined;
  }
  const go = async (...args) => (await run("go", args, { cwd: folder })).stdout.trim();
  if (!existsSync(path.join(folder, "go.mod"))) {
    mkdirSync(folder, { recursive: true });
    await go("mod", "init", "go-trace");
  }
  copyFileSync(source, path.join(folder, "main.go"));
  await go("get", `${module}/trace@${wanted}`);
  await go("build", "-o", "go-trace");
  const version = await go("list", "-m", module);
  const compare = async ({ file }) => {
    const { stdout } = await run(path.join(folder, "go-trace"), [file]);
    return compareSums(countsOf(await engine.folded(file, 1)), countsOf(stdout));
  };
  return { compare, tool: version };
}

/**
 * Counts by stack, without our marks: of a sample without a stack, and of a stack that was cut.
 * @param {string} text folded stacks
 */
export function countsOf(text) {
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at).replace(/^\[no stack\]$|^\[truncated\];/, ""), Number(line.slice(at + 1))];
    }),
  );
}
