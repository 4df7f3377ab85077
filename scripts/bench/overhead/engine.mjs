/** The engine's own CPU time while it records. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { root, StepError } from "../../lib/steps.mjs";
import { buildSample } from "../lib/samples.mjs";

const fulcrum = path.join(root, "bin", "fulcrum");
const output = path.join(root, "out", "bench", "engine");
/** The kernel counts CPU time in hundredths of a second here. */
const tick = 0.01;

/** Records for the given number of seconds. @returns {Promise<Record<string, { seconds: number, engine: number }>>} seconds both */
export async function measureEngine(samples, seconds) {
  const measured = {};
  for (const sample of samples) {
    measured[sample.name] = await measureOne(await buildSample(sample), seconds);
  }
  return measured;
}

async function measureOne(program, seconds) {
  rmSync(output, { recursive: true, force: true });
  mkdirSync(path.dirname(output), { recursive: true });
  const args = ["run", "--quiet", "--output", output, "--duration", `${seconds}s`, "--", program];
  const child = spawn(fulcrum, args, { stdio: "ignore" });
  const start = performance.now();
  let last;
  const look = setInterval(() => {
    last = ownTime(child.pid) ?? last;
  }, 100);
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject).on("close", resolve);
  }).finally(() => clearInterval(look));
  if (last === undefined || code !== 0) {
    throw new StepError(`\`${fulcrum} ${args.join(" ")}\` ended with exit code ${code}.`);
  }
  return { seconds: (performance.now() - start) / 1000, engine: last };
}

/** The CPU time of a process without its children, seconds; `undefined` if it is gone. */
function ownTime(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Starts after the name, which may contain anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tick;
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ESRCH") {
      return undefined;
    }
    throw error;
  }
}
