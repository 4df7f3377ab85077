/** The programs whose answers are known: the samples, and others' that are made to leave out a part of their work. */
import { StepError } from "../../lib/steps.mjs";
import { allSamples, buildSample } from "../lib/samples.mjs";
import { buildBorrowed } from "../others/build.mjs";
import { cozBenchmarks } from "../others/cozBenchmarks.mjs";
import { packages } from "../others/packages.mjs";

/** Options that name the folders which others' programs may come from. */
export const keys = ["coz", "libelfin", "phoenix"];

export function allPrograms() {
  const samples = allSamples().filter((sample) => sample.targets.length > 0);
  return [...samples, ...cozBenchmarks, ...packages];
}

/** Builds it. @returns {Promise<string | import("../others/build.mjs").Command>} */
export function build(sample, folders, { forCoz = false } = {}) {
  return sample.origin === undefined ? buildSample(sample, { forCoz }) : buildBorrowed(sample, { forCoz, folders });
}

/**
 * Those that can be built here, and why the others cannot: a source that is not to be had is no failure of the benchmark.
 * @returns {Promise<{ there: any[], missing: { name: string, why: string }[] }>}
 */
export async function buildable(programs, folders, forCoz) {
  const [there, missing] = [[], []];
  for (const sample of programs) {
    try {
      await build(sample, folders);
      if (forCoz && sample.targets.some(({ kind }) => kind === "line")) {
        await build(sample, folders, { forCoz });
      }
      there.push(sample);
    } catch (error) {
      if (!(error instanceof StepError) || sample.origin === undefined) {
        throw error;
      }
      console.log(`${sample.name} is left out: ${error.message}`);
      missing.push({ name: sample.name, why: error.message.split("\n").at(-1) });
    }
  }
  return { there, missing };
}
