/** Go's pprof. */
import { StepError, tryRun, which } from "../../lib/steps.mjs";

/** The program itself, as `go tool` would take part in every measurement. */
export async function findPprof() {
  if (which("go") === undefined) {
    throw new StepError("Go is needed for `go tool pprof`: install it (go.dev).");
  }
  const ask = async (...args) => (await tryRun("go", args)).stdout.trim();
  // Go builds it when it is first asked for.
  await tryRun("go", ["tool", "pprof", "-help"]);
  const pprof = await ask("tool", "-n", "pprof");
  if (pprof === "") {
    throw new StepError("`go tool -n pprof` names no program: install Go's tools.");
  }
  return { pprof, version: await ask("version"), goroot: await ask("env", "GOROOT") };
}
