/** Killing servers that are recorded, and looking whether what was recorded opens. */
import { readdirSync, readFileSync } from "node:fs";
import { engineBinary } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";

/** Kills a process at once; it may have ended. */
export function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") {
      throw error;
    }
  }
}

/** The processes that a process has made, and those that they have made. */
export function descendants(pid) {
  const children = new Map();
  for (const name of readdirSync("/proc").filter((it) => /^\d+$/.test(it))) {
    const parent = parentOf(Number(name));
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [];
  for (let waiting = [pid]; waiting.length > 0; ) {
    waiting = waiting.flatMap((it) => children.get(it) ?? []);
    found.push(...waiting);
  }
  return found;
}

function parentOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return /^State:\s+Z/m.test(status) ? undefined : Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1]);
  } catch {
    return undefined;
  }
}

/**
 * What opening a run says: how many transactions it has under each name, or why it does not open.
 * @returns {Promise<{ counts?: Record<string, number>, cut?: number, error?: string }>}
 */
export async function opened(run) {
  const { code, stdout, stderr, signal } = await runChild([engineBinary, "transactions", "show", run, "--json"]);
  // 1 says that nothing was recorded yet.
  if (code !== 0 && code !== 1) {
    return { error: `${signal ?? `exit code ${code}`}: ${stderr.trim()}` };
  }
  try {
    const { types, notes } = JSON.parse(stdout);
    const counts = Object.fromEntries(types.map(({ name, count }) => [name, count]));
    return { counts, cut: notes.filter((note) => note.includes("was cut off")).length };
  } catch (error) {
    return { error: `no JSON: ${error.message}` };
  }
}
