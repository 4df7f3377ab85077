/** Messages in the status bar: one at a time, each with an end. */
import { beforeEach, expect, test, vi } from "vitest";
import { keepStatus, showStatus } from "../../extension/features/editor/messages";

/** The messages, newest first, and how long each stays. */
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

test("a message replaces the one before, which does not come back", () => {
  showStatus("first");
  const second = showStatus("second");
  expect(texts()).toEqual(["second"]);
  expect(bar.messages[0]?.milliseconds).toBeGreaterThan(0);
  second.dispose();
  expect(texts()).toEqual([]);
});

test("a hint stays until it is disposed of", () => {
  const hint = keepStatus("Now choose the other one.");
  expect(bar.messages[0]?.milliseconds).toBeUndefined();
  hint.dispose();
  expect(texts()).toEqual([]);
  // Another message replaces the hint for good.
  keepStatus("Now choose the other one.");
  showStatus("Opened.");
  expect(texts()).toEqual(["Opened."]);
});
