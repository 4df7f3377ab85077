/** The link between the extension and a page: before the page is ready, while it is open, and after it closes. */
import { describe, expect, test } from "vitest";
import { PageLink } from "../../extension/core/page";

type To = { type: "show"; text: string } | { type: "rows"; from: number };
type From = { type: "ready" } | { type: "ask" };

/** A webview like VS Code's: posting to it throws after it was closed. */
function makePage(answer: (link: PageLink<To, From>) => Promise<void> = async () => {}) {
  const said: unknown[] = [];
  const failed: string[] = [];
  let hears: (message: From) => unknown = () => {};
  let open = true;
  const webview = {
    postMessage: async (message: unknown) => {
      if (!open) {
        throw new Error("Webview is disposed");
      }
      return said.push(message) > 0;
    },
    onDidReceiveMessage: (listener: (message: From) => unknown) => {
      hears = listener;
      return { dispose: () => {} };
    },
  };
  const link: PageLink<To, From> = new PageLink(
    webview,
    () => answer(link),
    (type, error) => failed.push(`${type}: ${(error as Error).message}`),
  );
  const close = () => {
    open = false;
    link.dispose();
  };
  return { link, said, failed, close, tell: (type: From["type"]) => hears({ type }) };
}

const show = (text: string): To => ({ type: "show", text });

describe("a page", () => {
  test("gets all pending messages when it is ready: the last that it shows, then the others", () => {
    const { link, said, tell } = makePage();
    link.show(show("opening"));
    link.post({ type: "rows", from: 0 });
    link.show(show("open"));
    link.remember({ run: "/r" });
    expect(said).toEqual([]);
    tell("ready");
    const kept = { type: "remember", state: { run: "/r" } };
    const answered = { type: "answered" };
    expect(said).toEqual([kept, show("open"), { type: "rows", from: 0 }, answered]);
    // A reloaded page requests its rows itself.
    tell("ready");
    expect(said.slice(4)).toEqual([kept, show("open"), answered]);
  });

  test("learns that a request is done, after its results, and also when it failed", async () => {
    const good = makePage(async (link) => link.post({ type: "rows", from: 7 }));
    good.tell("ready");
    await good.tell("ask");
    expect(good.said.slice(1)).toEqual([{ type: "rows", from: 7 }, { type: "answered" }]);
    const bad = makePage(async () => {
      throw new Error("no such row");
    });
    bad.tell("ready");
    await bad.tell("ask");
    expect(bad.said.slice(1)).toEqual([{ type: "answered" }]);
  });

  test("gets no messages after it closes, even from a request that is still running", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { said, failed, close, tell } = makePage(async (link) => {
      await held;
      link.show(show("late"));
      throw new Error("its trace was closed");
    });
    tell("ready");
    const answered = tell("ask");
    close();
    release();
    await answered;
    expect([said, failed]).toEqual([[{ type: "answered" }], []]);
  });

  test("reports failures, but not cancellations", async () => {
    const { failed, tell } = makePage(async () => {
      throw new Error("no such row");
    });
    await tell("ask");
    expect(failed).toEqual(["ask: no such row"]);
    const cancelled = makePage(async () => {
      throw Object.assign(new Error("the request was cancelled"), { code: -32800 });
    });
    await cancelled.tell("ask");
    expect(cancelled.failed).toEqual([]);
  });
});
