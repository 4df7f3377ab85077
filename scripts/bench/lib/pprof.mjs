/** Go's pprof. */
import { StepError, tryRun, which } from "../../lib/steps.mjs";

/** The path of the program, because the cost of `go tool` would be part of every measurement. */
export async function findPprof() {
  if (which("go") === undefined) {
    throw new StepError("`go tool pprof` is needed. Install Go (go.dev).");
  }
  const ask = async (...args) => (await tryRun("go", args)).stdout.trim();
  // Go builds it on first use.
  await tryRun("go", ["tool", "pprof", "-help"]);
  const pprof = await ask("tool", "-n", "pprof");
  if (pprof === "") {
    throw new StepError("`go tool -n pprof` names no program. Install Go's tools.");
  }
  return { pprof, version: await ask("version"), goroot: await ask("env", "GOROOT") };
}
