/** The rows of the Runs view. */
import { describe, expect, test } from "vitest";
import type { RunEntry } from "../../extension/core/engine/protocol";
import {
  contextOf,
  descriptionOf,
  endedText,
  iconOf,
  idOf,
  labelOf,
  type RunNode,
  runNodes,
  runsOf,
  spokenOf,
  whenText,
} from "../../extension/core/runs/runs";
import { deleteQuestion, tooltipOf } from "../../extension/core/runs/runTooltip";
import { runEntry } from "./make";

const locale = "en-GB";
const plain = (text: string) => text.replaceAll("\u00a0", " ");
/** Local time, so that the results do not depend on the time zone. */
const at = (hour: number, minute = 0) => new Date(2026, 10, 21, hour, minute).toISOString();
const now = new Date(2026, 10, 21, 18);
const described = (node: RunNode) => plain(descriptionOf(node, now, locale));

/** An iteration of a refine loop, recorded in `store`. */
function iteration(number: number, over: Partial<RunEntry> = {}, store = "/w/.fulcrum/runs"): RunEntry {
  const previous = number === 1 ? null : `${store}/shop.Main-refine-${number - 1}`;
  return runEntry(`shop.Main-refine-${number}`, {
    kind: "events",
    start: at(14, number),
    command: "java -cp build shop.Main --requests 60",
    options: { limit: "1073741824", rule: "wall >= 2ms after 20", iteration: String(number) },
    iteration: { number, previous },
    ...over,
  });
}

describe("which runs belong together", () => {
  const shape = (nodes: readonly RunNode[]) =>
    nodes.map((node) => (node.type === "loop" ? node.runs.map(labelOf) : labelOf(node)));

  test("newest first; a loop, with its iterations below it, is placed by its newest one", () => {
    const runs = [
      runEntry("old", { start: at(9) }),
      iteration(1),
      runEntry("between", { start: at(14, 2), kind: "events" }),
      iteration(2),
      iteration(3),
      runEntry("new", { start: at(15) }),
    ];
    expect(shape(runNodes(runs))).toEqual(["new", ["Iteration 1", "Iteration 2", "Iteration 3"], "between", "old"]);
    expect(runsOf(runNodes(runs)).length).toBe(runs.length);
  });

  test("two loops stay separate, also after a run between iterations was deleted", () => {
    const second = runEntry("shop.Main-refine-1-2", { ...iteration(1), path: "/w/.fulcrum/runs/other", start: at(16) });
    expect(shape(runNodes([iteration(1), iteration(3), second]))).toEqual([
      ["Iteration 1"],
      ["Iteration 3"],
      ["Iteration 1"],
    ]);
  });

  test("a workspace that was moved keeps its loops", () => {
    const moved = [iteration(1), iteration(2, {}, "/before/.fulcrum/runs")];
    expect(shape(runNodes(moved))).toEqual([["Iteration 1", "Iteration 2"]]);
  });

  test("a loop keeps its identity while iterations are added", () => {
    const [before] = runNodes([iteration(1)]);
    const [after] = runNodes([iteration(1), iteration(2)]);
    expect(idOf(after as RunNode)).toBe(idOf(before as RunNode));
    expect(after?.file).toBe("/w/.fulcrum/runs/shop.Main-refine-2");
  });
});

describe("the text of a row", () => {
  const row = (over: Partial<RunEntry>) =>
    runNodes([runEntry("two-threads", { start: at(14, 5), ...over })])[0] as RunNode;

  test("time, how it ended, size", () => {
    const node = row({ ended: "stopped" });
    expect(labelOf(node)).toBe("two-threads");
    expect(described(node)).toBe("14:05 · stopped · 56.2 kB");
    expect(plain(spokenOf(node, now, locale))).toBe("two-threads, causal profile, 14:05, stopped, 56.2 kB");
    expect(described(row({ start: "", bytes: null }))).toBe("ended normally");
  });

  const endings: [over: Partial<RunEntry>, text: string][] = [
    [{ ended: "running" }, "running"],
    [{}, "ended normally"],
    [{ exitCode: 3 }, "ended with status 3"],
    [{ ended: "signalled", signal: 11 }, "ended by SIGSEGV"],
    [{ ended: "signalled", signal: 63 }, "ended by signal 63"],
    [{ ended: "signalled" }, "ended by a signal"],
    [{ ended: "stopped" }, "stopped"],
    [{ ended: "lost" }, "recording cut off"],
  ];
  test.each(endings)("%j", (over, text) => {
    expect(endedText(runEntry("a", over))).toBe(text);
  });

  test("the date is shown unless it is today, the year unless it is this year", () => {
    expect(whenText(at(9, 30), now, locale)).toBe("09:30");
    expect(whenText(new Date(2026, 10, 2, 9, 30).toISOString(), now, locale)).toBe("2 Nov, 09:30");
    expect(whenText(new Date(2025, 10, 2, 9, 30).toISOString(), now, locale)).toBe("2 Nov 2025, 09:30");
    expect(whenText("yesterday", now, locale)).toBe("");
  });

  test("a loop shows how many iterations it has, and whether it is running", () => {
    const [over] = runNodes([iteration(1), iteration(2)]);
    expect(labelOf(over as RunNode)).toBe("shop.Main");
    expect(described(over as RunNode)).toBe("2 iterations · 14:02 · 112 kB");
    const [first] = over?.type === "loop" ? over.runs : [];
    expect(described(first as RunNode)).toBe("14:01 · ended normally · 56.2 kB");
    // Between two runs, no manifest says that the loop is running.
    const [going] = runNodes([iteration(1), iteration(2)], "/w/.fulcrum/runs/shop.Main-refine-2");
    expect(described(going as RunNode)).toBe("2 iterations · 14:02 · running · 112 kB");
    expect(iconOf(going as RunNode)).toBe("loading~spin");
  });

  test("kinds have their own icons and menus; running runs look different from finished ones", () => {
    const nodes = runNodes([
      runEntry("a", { start: at(17) }),
      runEntry("b", { start: at(16), kind: "events", ended: "running" }),
      runEntry("c", { start: at(15), kind: "unknown" }),
      iteration(1),
    ]);
    expect(nodes.map(contextOf)).toEqual(["run.causal", "run.events.going", "run.unknown", "loop"]);
    expect(nodes.map(iconOf)).toEqual(["graph-line", "loading~spin", "question", "filter"]);
    const [loop] = nodes.slice(-1);
    expect(loop?.type === "loop" ? loop.runs.map(contextOf) : []).toEqual(["run.iteration"]);
  });
});

describe("tooltips", () => {
  test("command, options, revision and the recorder's notes", () => {
    const run = runEntry("two-threads", {
      command: "build/two-threads --fast 'a b'",
      options: { program: "/w/build/two-threads", duration: "20", sourceScope: '["src/%"]' },
      gitRevision: "0123456789abcdef0123",
      notes: ["One_note.", "Two.", "Three.", "Four."],
      start: at(14, 5),
      end: new Date(Date.parse(at(14, 5)) + 37_000).toISOString(),
    });
    expect(plain(tooltipOf(runNodes([run])[0] as RunNode, locale)).split("\n")).toEqual([
      "**two\\-threads**: causal profile",
      ...["", "```sh", "build/two-threads --fast 'a b'", "```", ""],
      "- Started 21 November 2026 at 14:05:00",
      "- Ended normally, after 37.0 s",
      '- Options: `duration 20`, `sourceScope ["src/%"]`',
      "- Revision `0123456789ab`",
      "- 56.2 kB",
      ...["- One\\_note.", "- Two.", "- Three.", ""],
      "`/w/.fulcrum/runs/two-threads`",
    ]);
  });

  test("a loop's rule", () => {
    const [loop] = runNodes([iteration(1), iteration(2)]);
    expect(plain(tooltipOf(loop as RunNode, locale))).toMatch(
      /^\*\*shop\.Main\*\*: refine loop of 2 iterations\n[\s\S]*- Rule: `wall >= 2ms after 20`\n- 112 kB$/,
    );
  });

  test("a run without details", () => {
    const bare = { program: "", command: "", start: "", end: null, ended: "lost", bytes: null } as const;
    expect(tooltipOf(runNodes([runEntry("x", bare)])[0] as RunNode, locale)).toBe(
      "**x**: causal profile\n\n- Recording cut off\n\n`/w/.fulcrum/runs/x`",
    );
  });
});

test("a question names what will be deleted", () => {
  const nodes = runNodes([runEntry("two-threads", { start: at(14, 5) }), iteration(1), iteration(2)]);
  const asked = (some: readonly RunNode[]) => {
    const { question, detail } = deleteQuestion(some, now, locale);
    return plain(`${question} ${detail}`);
  };
  expect(asked(nodes.slice(0, 1))).toBe(
    "Delete the run two-threads of 14:05? Everything that it recorded (56.2 kB) is deleted from .fulcrum/runs. This cannot be undone.",
  );
  expect(asked(nodes.slice(1))).toMatch(/^Delete the refine loop shop\.Main of 14:02 with its 2 iterations\?/);
  expect(asked(nodes)).toMatch(/^Delete 3 runs\? Everything that they recorded \(169 kB\)/);
});
