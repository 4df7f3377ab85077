/** The machine and the tools of a measurement. */
import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import path from "node:path";
import { root, tryRun, which } from "../../lib/steps.mjs";

/** This host's name, which distinguishes the tables of different hosts. */
export function describeHost() {
  return `${cpus().length} × ${cpus()[0]?.model?.trim() ?? "unknown CPU"}, Linux ${release()}`;
}

export async function describeMachine() {
  const first = async (command, ...args) => (await tryRun(command, args)).output.split("\n")[0].trim();
  const distribution = /^PRETTY_NAME="(.*)"$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "Linux";
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return {
    machine: `${cpus().length} × ${cpus()[0]?.model ?? "unknown CPU"}, ${memory}, Linux ${release()}, ${distribution}`,
    paranoid: readFileSync("/proc/sys/kernel/perf_event_paranoid", "utf8").trim(),
    fulcrum: await first(path.join(root, "bin", "fulcrum"), "--version"),
    revision: await first("git", "describe", "--always", "--dirty"),
    compilers: [await first("g++", "--version"), await first("rustc", "--version")].join(", "),
    coz: await cozVersion(),
  };
}

/** The version of the installed one. */
export async function cozVersion() {
  if (which("coz") === undefined) {
    return "not installed";
  }
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are dpkg-query's
  const { code, output } = await tryRun("dpkg-query", ["-W", "-f", "${Version}", "coz-profiler"]);
  return code === 0 ? `coz ${output.trim()} (Debian)` : "coz, version unknown";
}

/** Numbers from a busy machine mislead. */
export function warnIfBusy() {
  const [load] = loadavg();
  if (load > 0.5) {
    console.log(`The machine is busy (load ${load.toFixed(1)}), so the results will be noisy.`);
  }
}
