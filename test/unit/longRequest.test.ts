/** Long requests: progress, cancellation, and no listeners left behind. */
import { describe, expect, test } from "vitest";
import { Cancelled, troubleOf } from "../../extension/core/engine/errors";
import { type LongClient, longRequest, orCancelled, type ProgressStep } from "../../extension/core/engine/longRequest";
import type { RequestMessage } from "../../extension/core/engine/protocol";

interface Params {
  run: string;
  workDoneToken?: string | number | null;
}

const message: RequestMessage<Params, string> = { method: "test/long" };

function makeToken() {
  const listeners = new Set<(event: unknown) => unknown>();
  const token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener: (event: unknown) => unknown) => {
      listeners.add(listener);
      return { dispose: () => void listeners.delete(listener) };
    },
  };
  const cancel = () => {
    token.isCancellationRequested = true;
    for (const listener of listeners) {
      listener(undefined);
    }
  };
  return { token, cancel, listeners };
}

/** An engine that answers when the test says so. */
function makeClient() {
  const answer = withResolvers<unknown>();
  const sent: { method: string; params: Params; passed: boolean }[] = [];
  const stopped: string[] = [];
  const listeners = new Map<string, (step: ProgressStep) => void>();
  const client: LongClient = {
    request: <P, R>({ method }: RequestMessage<P, R>, params: P, token?: unknown) => {
      sent.push({ method, params: params as Params, passed: token !== undefined });
      return answer.promise as Promise<R>;
    },
    onProgress: (token, listener) => {
      listeners.set(token, listener);
      return { dispose: () => void listeners.delete(token) };
    },
    stopWork: (token) => void stopped.push(token),
  };
  const says = (step: ProgressStep) => {
    for (const listener of listeners.values()) {
      listener(step);
    }
  };
  return { connect: async () => client, answer, sent, stopped, listeners, says };
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    [resolve, reject] = [yes, no];
  });
  return { promise, resolve, reject };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a long request", () => {
  test("is sent with its own token, reports on that token, and stops listening when it ends", async () => {
    const { connect, answer, sent, listeners, says } = makeClient();
    const steps: ProgressStep[] = [];
    const begun: string[] = [];
    const working = longRequest(
      connect,
      message,
      { run: "a" },
      { onCancel: "drop", report: (step) => steps.push(step), begun: (token) => begun.push(token) },
    );
    await turn();
    says({ message: "half", percentage: 50 });
    answer.resolve("done");
    expect(await working).toBe("done");
    expect(sent).toEqual([{ method: "test/long", params: { run: "a", workDoneToken: begun[0] }, passed: false }]);
    expect(steps).toEqual([{ message: "half", percentage: 50 }]);
    expect(listeners.size).toBe(0);
  });

  test("passes the cancellation on when dropped, reports nothing more, and fails as cancelled", async () => {
    const { connect, answer, sent, stopped, says } = makeClient();
    const { token, cancel } = makeToken();
    const steps: ProgressStep[] = [];
    const working = longRequest(
      connect,
      message,
      { run: "a" },
      { token, onCancel: "drop", report: (step) => steps.push(step) },
    );
    const failed = expect(working).rejects.toThrow(Cancelled);
    await turn();
    cancel();
    says({ message: "too late" });
    answer.reject(new Error("whatever it says now"));
    await failed;
    expect([sent[0]?.passed, stopped, steps]).toEqual([true, [], []]);
  });

  test("tells the engine when it is stopped, and still returns the result", async () => {
    const { connect, answer, sent, stopped, says } = makeClient();
    const { token, cancel, listeners } = makeToken();
    const steps: ProgressStep[] = [];
    const working = longRequest(
      connect,
      message,
      { run: "a" },
      { token, onCancel: "stop", report: (step) => steps.push(step) },
    );
    await turn();
    cancel();
    says({ message: "writing" });
    answer.resolve("what there is");
    expect(await working).toBe("what there is");
    expect([sent[0]?.passed, steps]).toEqual([false, [{ message: "writing" }]]);
    expect(stopped).toEqual([sent[0]?.params.workDoneToken]);
    expect(listeners.size).toBe(0);
  });

  test("gives the reason if it fails after being stopped", async () => {
    const { connect, answer } = makeClient();
    const { token, cancel } = makeToken();
    const working = longRequest(connect, message, { run: "a" }, { token, onCancel: "stop" });
    const failed = expect(working).rejects.toThrow("no such program");
    await turn();
    cancel();
    answer.reject(new Error("no such program"));
    await failed;
  });

  test.each(["drop", "stop"] as const)(
    "is never sent if it is cancelled before the engine has started (%s)",
    async (onCancel) => {
      const { connect, sent } = makeClient();
      const { token, cancel } = makeToken();
      const ready = withResolvers<void>();
      const late = () => ready.promise.then(connect);
      const working = longRequest(late, message, { run: "a" }, { token, onCancel });
      cancel();
      await expect(working).rejects.toThrow(Cancelled);
      ready.resolve();
      await turn();
      expect(sent).toEqual([]);
    },
  );

  test("fails as cancelled when the engine reports a cancellation", async () => {
    const { connect, answer } = makeClient();
    const working = longRequest(connect, message, { run: "a" }, { onCancel: "drop" });
    answer.reject(Object.assign(new Error("the search was cancelled"), { code: -32800 }));
    await expect(working).rejects.toThrow(Cancelled);
    expect(troubleOf(new Cancelled()).cancelled).toBe(true);
  });
});

test("stops waiting as soon as nobody wants the result", async () => {
  const { token, cancel, listeners } = makeToken();
  const waiting = orCancelled(new Promise(() => undefined), token);
  cancel();
  await expect(waiting).rejects.toThrow(Cancelled);
  expect(listeners.size).toBe(0);
  await expect(orCancelled(Promise.resolve(1), token)).rejects.toThrow(Cancelled);
  expect(await orCancelled(Promise.resolve(1), undefined)).toBe(1);
});
