/**
 * `npm run bench -- accuracy [SAMPLE…]`, `overhead [SAMPLE…]` or `loading`: runs a benchmark and writes its part of
 * docs/accuracy.md or docs/benchmarks.md. Flags (--quick, --resume, --report) are in bench/lib/options.mjs.
 * `npm run bench -- fuzz [--seconds N] [TARGET…]` runs the fuzz targets and prints their totals. `campaigns` runs what the
 * suite leaves out, and `steady` repeats the timing-sensitive part of the suite. `corpora` reads other people's recordings
 * and compares their numbers with those of other tools, and `damage` measures the memory that damaged copies of them need.
 * `repeat` profiles two samples twenty times. `bookstore` records the shop of Whodunit §8.4 and compares the numbers for its
 * database with the database's own. `price` halves a critical section and compares the gain with the prediction.
 * `flows`, `messages`, `handlers` and `kills` check transactional profiling: flows through shared memory, remote calls in random
 * pieces, hits and misses of caches, servers that are killed.
 */
import { readdirSync } from "node:fs";
import path from "node:path";
import { stopOnInterrupt } from "./bench/lib/children.mjs";
import { buildEngine } from "./bootstrap.mjs";
import { main, root, StepError } from "./lib/steps.mjs";
import { checkTools } from "./lib/tools.mjs";

const folder = path.join(root, "scripts", "bench");

await main(import.meta.url, async () => {
  const all = readdirSync(folder)
    .filter((name) => name.endsWith(".mjs"))
    .map((name) => path.basename(name, ".mjs"));
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined || !all.includes(name)) {
    throw new StepError(`usage: npm run bench -- NAME [ARGUMENT…], where NAME is one of ${all.join(", ")}.`);
  }
  stopOnInterrupt();
  await checkTools({ tests: false });
  await buildEngine();
  const { bench } = await import(path.join(folder, `${name}.mjs`));
  await bench(args);
});
