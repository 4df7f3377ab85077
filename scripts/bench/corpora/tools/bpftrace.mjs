/** bpftrace's maps of stacks, as FlameGraph's `stackcollapse-bpftrace.pl` folds them. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root, run, which } from "../../../lib/steps.mjs";
import { corpora } from "../catalogue.mjs";
import { repositoryOf, textOf } from "../files.mjs";
import { compareSums, sums } from "../folded.mjs";

const name = "stackcollapse-bpftrace.pl";
const folder = path.join(root, "out", "bench", "tools");

/**
 * @param {import("../engine.mjs").Engine} engine
 * @param {string | undefined} from where the repositories are
 */
export async function bpftrace(engine, from) {
  if (which("perl") === undefined) {
    return undefined;
  }
  const flameGraph = await repositoryOf(
    corpora.find((it) => it.name === "FlameGraph"),
    from,
  );
  const script = path.join(folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(script, await textOf(flameGraph, name));
  const compare = async ({ file }) => {
    const { stdout } = await run("perl", [script, file]);
    // It keeps the offset in the function, and leaves out samples without a stack and without other keys.
    const inner = (frames) => frames.filter((it) => it !== "[no stack]").map((it) => it.replace(/\+\d+$/, ""));
    const ours = sums(await engine.folded(file, 1), inner);
    ours.delete("");
    return compareSums(ours, sums(stdout, inner));
  };
  return { compare, tool: `${name} of FlameGraph` };
}
