/** The automatic search on profiles of which the bottlenecks are known. */
import { run } from "../../lib/steps.mjs";
import { Navigator } from "./process.mjs";
import { named, synthetic } from "./synthetic.mjs";

/** The search was tuned on the first seeds of the pair and on nothing else; the second ones it had never seen. */
const tuned = [1, 2, 3];
const unseen = [11, 12, 13, 14, 15];

/** How good it is, a row a profile. */
export async function searchAll(fulcrum, quick) {
  const rows = [];
  const pairs = quick ? [] : [...tuned, ...unseen].map((seed) => ["trade3", seed]);
  const singles = (quick ? ["xml"] : ["xml", "specj"]).map((kind) => [kind, 1]);
  for (const [kind, seed] of [...pairs, ...singles]) {
    const { file, truth } = await synthetic(kind, { seed });
    const { stdout } = await run(fulcrum, ["suggest", "--auto", "--json", ...files(kind, file)]);
    const { suggestions, coverage, total } = JSON.parse(stdout);
    const sum = (of) => suggestions.reduce((sum, it) => sum + of(it), 0);
    rows.push({
      kind,
      seed,
      tuned: kind === "trade3" && tuned.includes(seed),
      sequences: suggestions.length,
      coverage,
      length: sum((it) => it.path.length) / suggestions.length,
      overlap: sum((it) => it.cum) / total / coverage - 1,
      named: named(
        truth,
        suggestions.map((it) => it.path),
      ),
      sentence: suggestions[0].why,
    });
  }
  return rows;
}

function files(kind, file) {
  return kind === "trade3"
    ? [file("trade3-enabled", "pb.gz"), "--against", file("trade3-disabled", "pb.gz")]
    : [file(kind, "pb.gz")];
}

/** Processor time in milliseconds, each time in a new process. What is found then is labelled: a second search finds other. */
export async function searchTime(fulcrum, rounds, quick) {
  const times = {};
  for (const kind of quick ? ["xml"] : ["trade3", "specj"]) {
    const { file } = await synthetic(kind);
    times[kind] = [];
    for (let round = 0; round < rounds; round += 1) {
      const navigator = new Navigator(fulcrum, files(kind, file));
      try {
        await navigator.ask("labels");
        const before = navigator.cpu();
        const { ms } = await navigator.ask("auto");
        times[kind].push({ cpu: navigator.cpu() - before, ms });
      } finally {
        await navigator.close();
      }
    }
  }
  return times;
}
