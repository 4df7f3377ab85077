/** Perfetto's traces, as its trace processor reads them; where that is not to be had, as its published messages say. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { run } from "../../../lib/steps.mjs";
import { compareFunctions } from "../functions.mjs";
import { functionsBy } from "./python.mjs";
import { traceProcessor } from "./traceProcessor.mjs";
import { costsOfStacks, unnamed } from "./trees.mjs";

/** @param {import("../engine.mjs").Engine} engine @param {string | undefined} from where the repositories of the corpora are */
export async function perfetto(engine, from) {
  const program = await traceProcessor(from);
  const compare = async ({ file }) => {
    const { functions } = await engine.top(file, 1);
    const ours = functions.map((it) => ({ name: it.name, self: it.base, total: it.cum }));
    return program === undefined
      ? compareFunctions(ours, await functionsBy("perfetto_functions.py", file), 1)
      : compareFunctions(await demangled(ours), await processed(program, file), 1);
  };
  return {
    compare,
    tool: program === undefined ? "an independent reading by Perfetto's messages" : await nameOf(program),
  };
}

async function nameOf(program) {
  const { output } = await run(program, ["--version"]);
  return `Perfetto's trace processor ${/v[\d.]+/.exec(output)?.[0] ?? ""}`.trim();
}

/** Names as the trace processor writes them, which demangles those of C++. */
async function demangled(functions) {
  const names = functions.map(({ name }) => name).filter((name) => name.startsWith("_Z"));
  const { stdout } = await run("c++filt", names.length > 0 ? names : ["main"]);
  const found = new Map(stdout.split("\n").map((name, number) => [names[number], name]));
  return functions.map((it) => ({ ...it, name: found.get(it.name) ?? it.name }));
}

/** Perfetto's own summary of what was sampled, and the samples without a stack, which it leaves out and counts. */
const query = `
INCLUDE PERFETTO MODULE stacks.cpu_profiling;
SELECT id, ifnull(parent_id, -1) AS parent, self_count AS cost, hex(name) AS name, hex(ifnull(mapping_name, '')) AS file
FROM cpu_profiling_summary_tree
UNION ALL
SELECT -2, -1, count(*), hex('[no stack]'), '' FROM cpu_profiling_samples WHERE callsite_id IS NULL
UNION ALL
SELECT -3, -1, ifnull(sum(value), 0), hex('[no stack]'), '' FROM stats WHERE name = 'stackprofile_empty_callstack';
`;

async function processed(program, file) {
  const questions = path.join(path.dirname(file), "stacks.sql");
  writeFileSync(questions, query);
  const { stdout } = await run(program, ["--query-file", questions, file]);
  return costsOfStacks(stacksOf(stdout));
}

/**
 * The stacks of Perfetto's summary, innermost frame first. It says `unknown` of code without a name, and we say in which file it is.
 * @param {string} text CSV with hexadecimal names
 */
export function stacksOf(text) {
  const rows = [...text.matchAll(/^(-?\d+),(-?\d+),(\d+),"([0-9A-F]*)","([0-9A-F]*)"$/gm)];
  const nodes = new Map(
    rows.map(([, id, parent, cost, name, file]) => [id, { parent, cost: Number(cost), name: nameIn(name, file) }]),
  );
  const stack = (id) => {
    const frames = [];
    for (let node = nodes.get(id); node !== undefined; node = nodes.get(node.parent)) {
      frames.push(node.name);
    }
    return frames;
  };
  const sampled = [...nodes].filter(([, { cost }]) => cost > 0);
  return sampled.map(([id, { cost }]) => ({ frames: stack(id), cost }));
}

function nameIn(name, file) {
  const [text, where] = [name, file].map((it) => Buffer.from(it, "hex").toString());
  return text === "" || text === "unknown" ? unnamed(where) : text;
}
