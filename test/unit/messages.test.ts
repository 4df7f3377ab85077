/** Messages in the status bar: one at a time, and each ends when it is done with. */
import { beforeEach, expect, test, vi } from "vitest";
import { keepStatus, showStatus } from "../../extension/features/editor/messages";

/** What stands there, the last one in front, and whether it goes by itself. */
const bar = vi.hoisted(() => ({ messages: [] as { text: string; milliseconds: number | undefined }[] }));

vi.mock("vscode", () => ({
  window: {
    setStatusBarMessage: (text: string, milliseconds?: number) => {
      const message = { text, milliseconds };
      bar.messages.push(message);
      const dispose = () => {
        bar.messages = bar.messages.filter((it) => it !== message);
      };
      return { dispose };
    },
  },
}));

beforeEach(() => {
  bar.messages = [];
});

const texts = () => bar.messages.map(({ text }) => text);

test("a message takes the place of the one before, which does not come back", () => {
  showStatus("first");
  const second = showStatus("second");
  expect(texts()).toEqual(["second"]);
  expect(bar.messages[0]?.milliseconds).toBeGreaterThan(0);
  second.dispose();
  expect(texts()).toEqual([]);
});

test("what to do next stands there until it is done", () => {
  const hint = keepStatus("Now choose the other one.");
  expect(bar.messages[0]?.milliseconds).toBeUndefined();
  hint.dispose();
  expect(texts()).toEqual([]);
  // Once something else was said, nothing of it is left to take away.
  keepStatus("Now choose the other one.");
  showStatus("Opened.");
  expect(texts()).toEqual(["Opened."]);
});
