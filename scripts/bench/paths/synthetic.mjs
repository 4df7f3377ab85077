/** The synthetic profiles: made once, kept in out/bench/synthetic, made again when their generator is newer. */
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { engine, root, run, StepError, step, target } from "../../lib/steps.mjs";

const generator = path.join(target, "release", "fulcrum-synthetic");
const folder = path.join(root, "out", "bench", "synthetic");

/** What the paper says of these trees; the last is larger than any of its. */
const shapes = {
  "trade3-disabled": { nodes: 413_637, leaves: 189_386, deepest: 135, meanDepth: 59.9, widest: 69 },
  "trade3-enabled": { nodes: 480_994, leaves: 230_248, deepest: 135, meanDepth: 64.6, widest: 109 },
  specj: { nodes: 1_096_416, leaves: 516_173, deepest: 77, meanDepth: 34.2, widest: 74 },
  xml: { nodes: 24_321, leaves: 11_107, deepest: 86, meanDepth: 21.9, widest: 62 },
  "ten-million": { nodes: 10_000_000, leaves: 4_708_000, deepest: 77, meanDepth: 34.2, widest: 74 },
};

export async function buildGenerator() {
  // With what buildEngine builds: alone its dependencies would have other features, and be built again each time.
  const packages = ["-p", "fulcrum-cli", "-p", "fulcrum-runtime", "-p", "fulcrum-synthetic"];
  await step("generator", () => run("cargo", ["build", "--release", "--quiet", ...packages], { cwd: engine }));
}

/**
 * Profiles of a kind and a seed. Their files and what is planted in them.
 * @param {"trade3" | "specj" | "xml" | "ten-million"} kind
 * @returns {Promise<{ file: (name: string, extension: string) => string, truth: object }>}
 */
export async function synthetic(kind, { seed = 1, folded = false } = {}) {
  const here = path.join(folder, `${seed}${folded ? "-folded" : ""}`);
  const facts = path.join(here, `${kind}.json`);
  if (!existsSync(facts) || statSync(facts).mtimeMs < statSync(generator).mtimeMs) {
    const flags = folded ? [] : ["--no-folded"];
    await step(`${kind}, seed ${seed}`, () => run(generator, [kind, here, "--seed", String(seed), ...flags]));
  }
  const truth = JSON.parse(readFileSync(facts, "utf8"));
  for (const [name, shape] of Object.entries(truth.trees)) {
    checkShape(name, shape);
  }
  return { file: (name, extension) => path.join(here, `${name}.${extension}`), truth };
}

/** Exact but for the mean depth, which is within 2 %. */
function checkShape(name, shape) {
  const { meanDepth, ...exact } = shapes[name];
  const wrong = Object.keys(exact).filter((key) => shape[key] !== exact[key]);
  if (wrong.length > 0 || Math.abs(shape.meanDepth / meanDepth - 1) > 0.02) {
    throw new StepError(`${name} has another shape than the paper's: ${JSON.stringify(shape)}`);
  }
}

/** How much of the planted a search named, and how it did so. `paths` are lists of names. */
export function named(truth, paths, count = 14) {
  return truth.planted.slice(0, count).filter((planted) => {
    const others = new Set(truth.planted.filter((it) => it !== planted).flatMap((it) => it.path));
    const own = new Set(planted.path.filter((name) => !others.has(name)));
    return paths.some((path) => path.some((name) => own.has(name)));
  }).length;
}
