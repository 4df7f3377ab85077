/** `perf.data` whose copied stacks are unwound, stack by stack as `perf script` unwinds them. */
import { which } from "../../../lib/steps.mjs";
import { runChild } from "../../lib/children.mjs";
import { compareSums } from "../folded.mjs";

export async function perf(engine) {
  if (which("perf") === undefined) {
    return undefined;
  }
  const { stdout: version } = await runChild(["perf", "--version"]);
  const compare = async ({ file, info }) => {
    const { stdout } = await runChild(["perf", "script", "--no-inline", "-F", "period,ip,sym,dso", "-i", file]);
    const value = info.valueTypes.findIndex(({ name }) => name !== "samples");
    const ours = ofFolded(await engine.folded(file, value + 1));
    return compareSums(ours, stacksOfScript(stdout));
  };
  return { compare, tool: version.trim() };
}

/** Sums by stack, without the mark of a stack that could not be followed to its end: perf has none. */
function ofFolded(text) {
  return added(
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const at = line.lastIndexOf(" ");
        const frames = line.slice(0, at).split(";");
        return { frames: frames.filter((name) => name !== "[truncated]"), cost: Number(line.slice(at + 1)) };
      }),
  );
}

/** perf subtracts one from the address of a caller, also from the 0 that ends a stack. */
const beforeNothing = "f".repeat(16);

/**
 * Sums by stack, outermost frame first.
 * @param {string} text what `perf script -F period,ip,sym,dso` prints
 * @returns {Map<string, number>}
 */
export function stacksOfScript(text) {
  return added(
    text
      .split("\n\n")
      .filter((sample) => sample.trim() !== "")
      .map((sample) => {
        const [head, ...lines] = sample.trim().split("\n");
        const frames = lines
          .map((line) => /^\s*([\da-f]+) (.*) \((.*)\)$/.exec(line))
          .filter(([, address]) => address !== beforeNothing)
          .map(([, , name, file]) => {
            const base = file
              .split("/")
              .at(-1)
              .replace(/^\[|\]$/g, "");
            return name === "[unknown]" ? `[${base}]` : name;
          });
        return { frames: frames.reverse(), cost: Number(head.trim()) };
      }),
  );
}

function added(stacks) {
  const sums = new Map();
  for (const { frames, cost } of stacks) {
    const key = frames.map(plain).join(";");
    sums.set(key, (sums.get(key) ?? 0) + cost);
  }
  return sums;
}

/** Several names may be at one address; which of them a tool takes, and with which version, is its own choice. */
function plain(name) {
  return name.replace(/@@?[\w.]+$/, "").replace(/^(__GI_|__)+(libc_)?/, "");
}
