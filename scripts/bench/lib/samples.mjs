/** The programs in samples/: what each one shows, where its targets are, how it is built. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { engine, root, run, StepError } from "../../lib/steps.mjs";

const folder = path.join(root, "samples");

/**
 * @typedef {object} Target what is sped up
 * @property {string} name also its name for SAMPLE_REDUCE
 * @property {"line" | "function" | "inclusive" | "path" | "blocked"} kind
 * @property {string} [marker] the marker in the comment `TARGET: marker`, if it is not the name
 * @property {string} [function] @property {string} [path] @property {string} [call] depending on the kind
 * @property {boolean} [fixed] `false`: experiments select their own line
 * @property {number[]} [theory] program speedups at 25, 50, 75 %, in percent
 */

/**
 * @typedef {object} Sample
 * @property {string} name
 * @property {string} lesson
 * @property {string[]} build the compiler and its options, or `cargo` for a package
 * @property {string} source its full path
 * @property {string} point the progress point
 * @property {"throughput" | "latency"} measure
 * @property {number} units about a second of work
 * @property {number} round the number of units must be a multiple of this
 * @property {Target[]} targets
 * @property {string} [fix] what SAMPLE_FIX=1 repairs
 * @property {{ name: string, env: Record<string, string>, units?: number }[]} [variants] other ways to run it
 */

/** @returns {Sample[]} */
export function allSamples() {
  return readdirSync(folder)
    .filter((name) => existsSync(path.join(folder, name, "sample.json")))
    .map((name) => {
      const text = readFileSync(path.join(folder, name, "sample.json"), "utf8");
      const sample = { measure: "throughput", round: 1, ...JSON.parse(text), name };
      return { ...sample, source: path.join(folder, name, sample.source) };
    });
}

/** The ways to run a sample; most have one. @param {Sample} sample */
export function variantsOf(sample) {
  const variants = sample.variants ?? [{ name: "", env: {} }];
  return variants.map(({ name, env, units = sample.units }) => ({
    title: name === "" ? sample.name : `${sample.name}, ${name}`,
    env,
    units,
  }));
}

/** The samples with these names, or all if there are no names. @returns {Sample[]} */
export function chooseSamples(samples, names) {
  const unknown = names.filter((name) => !samples.some((sample) => sample.name === name));
  if (unknown.length > 0) {
    const there = samples.map((sample) => sample.name).join(", ");
    throw new StepError(`There is no sample ${unknown.join(", ")}: choose among ${there}.`);
  }
  return names.length > 0 ? samples.filter((sample) => names.includes(sample.name)) : samples;
}

/** The 1-based line that has the target's marker. */
export function markerLine(text, target) {
  const marker = new RegExp(`// TARGET: ${target.marker ?? target.name}$`);
  const lines = text.split("\n").flatMap((line, index) => (marker.test(line.trimEnd()) ? [index + 1] : []));
  if (lines.length !== 1) {
    throw new StepError(`Expected one line with "${marker.source}", found ${lines.length}.`);
  }
  return lines[0];
}

/** FILE:LINE of a target, as in profiles. */
export function targetLocation(sample, target) {
  return `${sample.source}:${markerLine(readFileSync(sample.source, "utf8"), target)}`;
}

/**
 * Builds a sample. For coz: with DWARF 4 without extensions, because coz 0.2.2 fails on anything else, and with a linker whose
 * programs coz understands.
 * @param {Sample} sample
 * @returns {Promise<string>} the program
 */
export async function buildSample(sample, { forCoz = false } = {}) {
  const [compiler, ...flags] = sample.build;
  const output = path.join(folder, sample.name, "build");
  mkdirSync(output, { recursive: true });
  if (compiler === "cargo") {
    const place = forCoz ? path.join(output, "coz") : output;
    const coz = "-C dwarf-version=4 -C link-arg=-fuse-ld=bfd";
    const args = ["build", "--release", "--quiet", "--locked", "-p", sample.name, "--target-dir", place];
    await run("cargo", args, { cwd: folder, env: forCoz ? { RUSTFLAGS: coz } : {} });
    return path.join(place, "release", sample.name);
  }
  const program = path.join(output, forCoz ? `${sample.name}-coz` : sample.name);
  const dwarf = forCoz ? ["-gdwarf-4", "-gstrict-dwarf"] : [];
  await run(compiler, [...flags, ...dwarf, "-I", path.join(engine, "include"), sample.source, "-o", program]);
  return program;
}
