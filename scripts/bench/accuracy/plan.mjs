/** How long the parts of a campaign take, so that all of it takes an hour of a quiet machine at most. */
import { repeats, secondsToCount } from "./leftOut.mjs";
import { patience } from "./truth.mjs";

/** Seconds of the whole campaign. */
const hour = 3600;
/** What each part gets of a program's time; each peer gets the last. */
const shares = { truth: 0.3, fulcrum: 0.42, coz: 0.14 };
/** Seconds a program with one target that are enough. */
const enough = { truth: 48, fulcrum: 58, coz: 26 };
const rounds = 7;

/** @typedef {{ truth: number, rounds: number, fulcrum: number, coz: number, leftOut: number }} Budget seconds, all targets together */

/**
 * @param {{ name: string, targets: unknown[] }[]} programs @param {number} peers
 * @returns {{ budget: (program: { targets: unknown[] }) => Budget, seconds: number }} `seconds`: all of it, at most
 */
export function plan(programs, peers) {
  const leftOut = (program) => (repeats(program) ? secondsToCount * program.targets.length : 0);
  const counting = programs.reduce((sum, program) => sum + leftOut(program), 0);
  const unit = (hour - counting) / programs.reduce((sum, program) => sum + weight(program), 0);
  const each = shares.truth + shares.fulcrum + shares.coz * peers;
  const part = (name) => Math.min((unit * shares[name]) / Math.max(1, each), enough[name]);
  // The truth may be measured for longer where it is vague.
  const one = { truth: part("truth") / patience, fulcrum: part("fulcrum"), coz: part("coz") };
  const budget = (program) => ({
    truth: one.truth * weight(program),
    rounds,
    fulcrum: one.fulcrum * weight(program),
    coz: one.coz * weight(program),
    leftOut: leftOut(program),
  });
  const parts = ["truth", "left out", "fulcrum", ...Array.from({ length: peers }, () => "coz")];
  const all = programs.flatMap((program) => parts.map((name) => longest(budget(program), name)));
  return { budget, seconds: all.reduce((sum, it) => sum + it, 0) };
}

/** Seconds that a part takes at most: the truth, what is left out, Fulcrum's, or a peer's. @param {Budget} budget @param {string} name */
export function longest(budget, name) {
  const seconds = { truth: budget.truth * patience, "left out": budget.leftOut, fulcrum: budget.fulcrum };
  return seconds[name] ?? budget.coz;
}

/** A further target needs as long as the first for its predictions, and nothing more of the unchanged program. */
function weight({ targets }) {
  return 1 + (targets.length - 1) / 2;
}
