/**
 * Compares flat and cum of every function, in profiles and in comparisons, with `go tool pprof`, exactly. Fails if any number
 * differs. The profiles are Go's own, and those in ../shared/profiles if that folder exists.
 */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { root, run, StepError } from "../lib/steps.mjs";
import { writeSection } from "./lib/document.mjs";
import { describeMachine } from "./lib/machine.mjs";
import { findPprof } from "./lib/pprof.mjs";
import { compare, parseTop } from "./oracle/top.mjs";

const fulcrum = path.join(root, "bin", "fulcrum");
const shared = path.join(root, "..", "shared", "profiles");

export async function bench() {
  const { pprof, version, goroot } = await findPprof();
  const files = [...sharedProfiles(), path.join(goroot, "src", "cmd", "compile", "default.pgo")].filter(existsSync);
  const profiles = [];
  for (const file of files) {
    profiles.push({ file, name: nameOf(file), types: await valueTypes(file) });
  }
  const rows = [];
  const differences = [];
  const check = async (title, profile, base, type) => {
    const difference = await checkOne({ pprof, profile, base, type });
    differences.push(...difference.problems.map((problem) => `${title}, ${profile.types[type].name}: ${problem}`));
    return difference.functions;
  };
  for (const profile of profiles) {
    let functions = 0;
    for (const type of profile.types.keys()) {
      functions += await check(profile.name, profile, undefined, type);
    }
    rows.push({ title: profile.name, types: profile.types.length, functions });
  }
  for (const [profile, base] of pairs(profiles)) {
    const title = `${profile.name} against ${base.name}`;
    let functions = 0;
    for (const type of profile.types.keys()) {
      functions += await check(title, profile, base, type);
    }
    rows.push({ title, types: profile.types.length, functions });
  }
  for (const difference of differences) {
    console.log(difference);
  }
  const numbers = rows.reduce((sum, row) => sum + 2 * row.functions, 0);
  console.log(`${numbers} numbers in ${rows.length} reports compared, ${differences.length} differ.`);
  if (differences.length > 0) {
    throw new StepError("Fulcrum and pprof do not agree.");
  }
  const { machine, fulcrum: ours, revision } = await describeMachine();
  writeSection("docs/benchmarks.md", "oracle", report(rows, numbers, `${version}; ${ours} (${revision}), ${machine}`));
}

function sharedProfiles() {
  const all = existsSync(shared) ? readdirSync(shared, { recursive: true }) : [];
  return all
    .filter((file) => /\.(pb\.gz|prof|pprof|pgo)$/.test(file))
    .sort()
    .map((file) => path.join(shared, file));
}

function nameOf(file) {
  const within = path.relative(shared, file);
  return within.startsWith("..") ? `Go's ${path.basename(file)}` : within;
}

async function valueTypes(file) {
  const { stdout } = await run(fulcrum, ["profile", "info", "--json", file]);
  return JSON.parse(stdout).valueTypes;
}

/** Profiles that can be compared, with the same value types in the same units. Each with the one before. */
function pairs(profiles) {
  const key = ({ types }) => JSON.stringify(types.map(({ name, unit }) => [name, unit]));
  return profiles.flatMap((profile, index) => {
    const base = profiles.slice(0, index).findLast((other) => key(other) === key(profile));
    return base === undefined
      ? []
      : [
          [profile, base],
          [base, profile],
        ];
  });
}

/** Flags without which pprof omits functions, rounds, or renames. */
const exact = ["-top", "-trim=false", "-nodecount=0", "-nodefraction=0", "-edgefraction=0", "-symbolize=none"];

async function checkOne({ pprof, profile, base, type }) {
  const against = base === undefined ? [] : ["--against", base.file];
  const value = ["--value", String(type + 1)];
  const ours = await run(fulcrum, ["profile", "top", "--json", "--names", "none", ...value, ...against, profile.file]);
  const diff = base === undefined ? [] : [`-diff_base=${base.file}`];
  const unit = `-unit=${profile.types[type].unit || "count"}`;
  const theirs = await run(pprof, [...exact, unit, `-sample_index=${type}`, ...diff, profile.file]);
  return compare(JSON.parse(ours.stdout).functions, parseTop(theirs.stdout));
}

function report(rows, numbers, footer) {
  return [
    "## The same numbers as pprof",
    "",
    "Flat and cum of every function, from `fulcrum profile top --json` and from `go tool pprof -top` (comparisons: `-diff_base`), for",
    "every value type of every profile. No number may differ, not even in the last digit. Samples without a stack belong to no function.",
    "",
    "| profile | value types | functions | differences |",
    "|---|---:|---:|---:|",
    ...rows.map((row) => `| ${row.title} | ${row.types} | ${row.functions} | 0 |`),
    "",
    `${numbers} numbers. pprof of ${footer}.`,
  ].join("\n");
}
