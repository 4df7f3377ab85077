/** A run that is going on: what the editor says about it, and what can be changed. */
import type { Aim, AimTarget, LiveParams } from "../engine/protocol";

/** What the status bar and the ranking need of a run. */
export interface RunState {
  program: string;
  /** The last progress message; empty before the first. */
  message: string;
  /** The last report; `null` before the first. */
  live: LiveParams | null;
}

export function isPaused(run: RunState | null): boolean {
  return run?.live?.paused === true;
}

export const lineAim: Aim = { target: "line", paths: [], sourceScope: [], binaryScope: [] };

/** Each kind with what a person calls it and what it is for. */
export const targetKinds: readonly { kind: AimTarget; label: string; detail: string }[] = [
  { kind: "line", label: "Lines", detail: "Which line is worth making faster?" },
  {
    kind: "function",
    label: "Functions",
    detail: "Which function's own code is worth making faster? Without what it calls.",
  },
  {
    kind: "inclusive",
    label: "Functions with Callees",
    detail: "Which function is worth making faster, including everything that it calls?",
  },
  { kind: "path", label: "Call Paths…", detail: "Is a call sequence that you name worth making faster?" },
  { kind: "blocked", label: "Blocked Calls", detail: "Is it worth waiting less in read, poll, sleep or a lock?" },
];

/** `functions in src/%`, `lines`. */
export function aimText(aim: Aim): string {
  const what = {
    line: "lines",
    function: "functions",
    inclusive: "functions with their callees",
    path: aim.paths.length === 1 ? `the path ${aim.paths[0]}` : `${aim.paths.length} paths`,
    blocked: "blocked calls",
  }[aim.target];
  const scope = [...aim.sourceScope, ...aim.binaryScope];
  return scope.length === 0 ? what : `${what} in ${scope.join(", ")}`;
}

/** Patterns or paths as the user types them, separated by commas; empty parts are dropped. */
export function listOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Call paths; commas inside brackets, as in `f(int, char) > g<a, b>`, belong to names. */
export function pathsOf(text: string): string[] {
  const paths: string[] = [];
  let depth = 0;
  let current = "";
  // `>` between names has spaces around it, so that it closes no bracket.
  for (const part of text.split(/( > |[()<>,])/)) {
    if (part === "(" || part === "<") {
      depth += 1;
    } else if (part === ")" || part === ">") {
      depth = Math.max(0, depth - 1);
    } else if (part === "," && depth === 0) {
      paths.push(current);
      current = "";
      continue;
    }
    current += part;
  }
  return [...paths, current].map((path) => path.trim()).filter((path) => path !== "");
}

/** `undefined` when the text names paths, else one sentence. */
export function pathsProblem(text: string): string | undefined {
  const paths = pathsOf(text);
  if (paths.length === 0) {
    return "Name a call sequence, the outermost function first, as in main > serve > parse.";
  }
  const empty = paths.find((path) => path.split(/ > | >$|^> /).some((name) => name.trim() === ""));
  return empty === undefined
    ? undefined
    : `A function name is missing in ${empty}: write one on each side of every >, as in main > serve > parse.`;
}

/** The Ranking's message above its rows while a run goes on. `shown`: which results are below. */
export function liveMessage(run: RunState, program: string, shown: "live" | "other" | "none"): string {
  const count = run.live?.experiments ?? 0;
  const paused = isPaused(run);
  if (shown === "other") {
    return `Profiling ${program}${paused ? ", paused" : ""}. The results below are from another run; new ones appear as soon as there are any.`;
  }
  if (shown === "none") {
    return "";
  }
  return paused
    ? `Paused: ${program} continues without experiments. Resume to measure again.`
    : `Live: ${program} is still running. ${count} experiments so far; results change and intervals narrow as more come.`;
}
