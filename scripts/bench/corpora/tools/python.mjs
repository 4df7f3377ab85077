/** Profilers of Python, installed by pip, once. */
import { existsSync } from "node:fs";
import path from "node:path";
import { root, run, step } from "../../../lib/steps.mjs";
import { compareFunctions } from "../functions.mjs";

const folder = path.join(root, "out", "bench", "tools", "python");
const packages = { memray: "1.20.0", pyinstrument: "5.1.3", scalene: "2.4.0", perfetto: "0.59.1", protobuf: "7.36.2" };

/** The interpreter that has the profilers. */
export async function python() {
  const program = path.join(folder, "bin", "python");
  if (!existsSync(path.join(folder, "bin", "memray"))) {
    await step("Python's profilers", async () => {
      await run("python3", ["-m", "venv", folder]);
      const wanted = Object.entries(packages).map(([name, version]) => `${name}==${version}`);
      await run(program, ["-m", "pip", "install", "--quiet", ...wanted]);
    });
  }
  return program;
}

/** Where a package is that is installed only where it is needed. */
export async function installed(name, version) {
  const program = await python();
  const where =
    "import importlib.util as u; s = u.find_spec('NAME'); print(s.submodule_search_locations[0] if s else '')";
  const find = async () => (await run(program, ["-c", where.replace("NAME", name)])).stdout.trim();
  if ((await find()) === "") {
    await step(name, () => run(program, ["-m", "pip", "install", "--quiet", "--no-deps", `${name}==${version}`]));
  }
  return find();
}

/**
 * Runs one of the scripts beside this file, which print a list of names, own costs and costs with callees.
 * @returns {Promise<import("../functions.mjs").Cost[]>}
 */
export async function functionsBy(script, ...args) {
  const { stdout } = await run(await python(), [path.join(import.meta.dirname, script), ...args]);
  return JSON.parse(stdout).map(([name, self, total]) => ({ name, self, total: total ?? undefined }));
}

/** memray's JSON for gprof2dot beside the recording that it was made of. */
export async function memray(engine) {
  const compare = async ({ file, recording }) => {
    const { functions } = await engine.top(file, 1);
    return compareFunctions(functions.map(cost), await functionsBy("memray_functions.py", recording), 1);
  };
  return { compare, tool: `memray ${packages.memray}` };
}

/** Nanoseconds by which sums may differ: its JSON has six decimals of a second, and a session's samples last fractions. */
const slack = 1000;

/** pyinstrument's files beside the session that they were made of. */
export async function pyinstrument(engine) {
  const compare = async ({ file, info, recording }) => {
    const time = info.valueTypes.findIndex(({ name }) => name === "time");
    const { functions } = await engine.top(file, time + 1);
    const what = recording.endsWith(".json") ? "tree" : file === recording ? "whole" : "shown";
    const theirs = await functionsBy("pyinstrument_functions.py", what, recording);
    const ours = functions.map(cost).filter(({ name }) => name !== "[untracked]");
    return compareFunctions(ours, theirs, 1e9, slack * info.nodes);
  };
  return { compare, tool: `pyinstrument ${packages.pyinstrument}` };
}

/**
 * Scalene tells lines, of which Fulcrum makes functions, and functions, which are its own sums of them. It parts native time from the
 * system's in another way there, and stacks have other times than lines.
 */
export async function scalene(engine) {
  const compare = async ({ file, info, text }) => {
    const report = JSON.parse(text);
    const nanoseconds = report.elapsed_time_sec * 1e7;
    const lines = Object.values(report.files).flatMap((it) => it.lines);
    const samples = (report.stacks ?? []).map(([, share]) => share.cpu_samples).filter((it) => it !== undefined);
    const shares = lines.map((it) => it.n_cpu_percent_python + it.n_cpu_percent_c + it.n_sys_percent);
    const whole = samples.length > 0 ? 100 * sum(samples) : sum(shares);
    const total = compareFunctions(
      [{ name: "total", self: info.valueTypes[0].total }],
      [{ name: "total", self: whole * nanoseconds }],
      1,
      slack,
    );
    if (samples.length > 0) {
      return total;
    }
    const told = Object.values(report.files).flatMap((it) => it.functions);
    const theirs = told.flatMap((it) => [
      { name: `${it.line}, python`, self: it.n_cpu_percent_python * nanoseconds },
      { name: `${it.line}, native`, self: (it.n_cpu_percent_c + it.n_sys_percent) * nanoseconds },
    ]);
    const values = { python: "python", native: "native", system: "native" };
    const ours = [];
    for (const [value, name] of Object.entries(values)) {
      const { functions } = await engine.top(file, value);
      ours.push(...functions.map((it) => ({ name: `${it.name}, ${name}`, self: it.base })));
    }
    const known = new Set(theirs.map(({ name }) => name));
    const { numbers, differences } = compareFunctions(
      ours.filter(({ name }) => known.has(name)),
      theirs,
      1,
      slack,
    );
    return { numbers: numbers + total.numbers, differences: [...differences, ...total.differences] };
  };
  return { compare, tool: `Scalene's own sums by function (${packages.scalene})` };
}

function sum(numbers) {
  return numbers.reduce((all, it) => all + it, 0);
}

function cost({ name, base, cum }) {
  return { name, self: base, total: cum };
}
