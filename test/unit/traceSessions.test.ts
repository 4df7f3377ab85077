/** The engine keeps no trace open that no panel shows. */
import { describe, expect, test } from "vitest";
import { Cancelled } from "../../extension/core/engine/errors";
import { closeTraces, openBoth, openTrace, type TraceEngine } from "../../extension/core/trace/sessions";

/** Opens runs under rising ids, except one named `bad`, and lists what is open. */
function makeEngine(state = "running") {
  const open = new Set<number>();
  const asked: string[] = [];
  let last = 0;
  const request = async ({ method }: { method: string }, params: { run?: string; id?: number }) => {
    asked.push(method);
    await Promise.resolve();
    if (params.run === "bad") {
      throw new Error("bad is no trace");
    }
    if (params.id !== undefined && !open.delete(params.id)) {
      throw new Error(`trace ${params.id} is not open`);
    }
    if (params.run !== undefined) {
      last += 1;
      open.add(last);
    }
    return { id: last };
  };
  const engine = {
    state,
    log: { debug: () => {} },
    request: request as TraceEngine["request"],
    long: request as TraceEngine["long"],
  };
  return { engine, open, asked };
}

describe("traces that are open in the engine", () => {
  test("a trace whose panel closed while it was opening is closed once it has opened", async () => {
    const { engine, open } = makeEngine();
    const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
    const opening = openTrace(engine, "a", { token, onCancel: "drop" });
    token.isCancellationRequested = true;
    await expect(opening).rejects.toThrow(Cancelled);
    expect([...open]).toEqual([]);
  });

  test("of two traces, both are open or neither", async () => {
    const { engine, open } = makeEngine();
    const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
    expect(await openBoth(engine, { a: "x", b: "y" }, token)).toEqual({ a: 1, b: 2 });
    await expect(openBoth(engine, { a: "z", b: "bad" }, token)).rejects.toThrow("bad is no trace");
    await expect(openBoth(engine, { a: "bad", b: "z" }, token)).rejects.toThrow("bad is no trace");
    expect([...open]).toEqual([1, 2]);
  });

  test("closing continues after one that is not open, and asks no engine that has stopped", async () => {
    const { engine, open, asked } = makeEngine();
    await openTrace(engine, "a", { onCancel: "drop" });
    await closeTraces(engine, [7, 1]);
    expect([...open]).toEqual([]);
    const away = makeEngine("restarting");
    await closeTraces(away.engine, [1]);
    expect([asked.length, away.asked]).toEqual([3, []]);
  });
});
