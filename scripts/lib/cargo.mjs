/** Cargo builds with progress. */
import { engine, StepError, tryRun } from "./steps.mjs";

/**
 * `cargo build --release`.
 * @param {string[]} args further arguments
 * @param {(what: string) => void} say gets what is being compiled and how many crates are done, as cargo counts them
 * @returns {Promise<CargoArtifact[]>} the artifacts, newly built or up to date
 *
 * @typedef {object} CargoArtifact the used part of a message from cargo
 * @property {string} manifest_path
 * @property {string | null} executable
 * @property {{ kind: string[], name: string }} target
 * @property {{ test: boolean }} profile
 */
export async function cargoBuild(args, say) {
  // Cargo draws its progress bar only on terminals, unless its width is set.
  const env = { CARGO_TERM_PROGRESS_WHEN: "always", CARGO_TERM_PROGRESS_WIDTH: "200", CARGO_TERM_COLOR: "never" };
  const { code, output, stdout } = await tryRun(
    "cargo",
    ["build", "--release", "--message-format=json-render-diagnostics", ...args],
    { cwd: engine, env, onError: (chunk) => tell(chunk, say) },
  );
  if (code !== 0) {
    throw new StepError(`${diagnostics(output)}\nThe engine does not compile.`);
  }
  return stdout
    .split("\n")
    .filter((line) => line.startsWith('{"reason":"compiler-artifact"'))
    .map((line) => JSON.parse(line));
}

/** The last progress bar in a piece of cargo's output: `Building [==>  ] 12/213: parquet, arrow-ipc`. */
function tell(chunk, say) {
  const [bar] = [...chunk.matchAll(/\] +(\d+)\/(\d+)(?:: ([^\r\n]*))?/g)].slice(-1);
  if (bar !== undefined) {
    const [, done, all, crates = ""] = bar;
    say(`${done} of ${all} crates${crates.trim() === "" ? "" : `, compiling ${crates.trim()}`}`);
    return;
  }
  const [got] = [...chunk.matchAll(/Download(?:ed|ing) ([^\r\n]*)/g)].slice(-1);
  if (got !== undefined) {
    say(`downloading ${got[1]?.trim()}`);
  }
}

/** Cargo's output without progress bars, success messages, and messages for programs. */
function diagnostics(output) {
  return output
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .filter((line) => !line.startsWith('{"reason"') && !/^ +(Compiling|Building|Download|Fresh|Updating)/.test(line))
    .join("\n")
    .trim();
}
