/** What an input of the Navigator does with the keyboard focus when it ends. */
import { beforeEach, expect, test, vi } from "vitest";
import { ask, registerEscape, setFocused } from "../../extension/features/navigator/navigatorFocus";

const editor = vi.hoisted(() => ({
  done: [] as string[],
  commands: new Map<string, () => unknown>(),
}));

vi.mock("vscode", () => ({
  commands: {
    registerCommand: (name: string, run: () => unknown) => void editor.commands.set(name, run),
    executeCommand: async (...call: unknown[]) => void editor.done.push(call.join(" ")),
  },
}));

const givenBack = () => editor.done.includes("fulcrum.navigator.focus");

/** The page loses the focus to the input, which then ends like this. */
function input(end: () => string | undefined): () => Promise<string | undefined> {
  return async () => {
    await setFocused(false);
    return end();
  };
}

function pressEscape(): undefined {
  editor.commands.get("fulcrum.navigator.escape")?.();
}

beforeEach(async () => {
  registerEscape();
  await setFocused(true);
  editor.done.length = 0;
});

test("an answer gives the focus back", async () => {
  expect(await ask(input(() => "left"))).toBe("left");
  expect(givenBack()).toBe(true);
});

test("Escape gives it back, and closes the input", async () => {
  expect(await ask(input(pressEscape))).toBeUndefined();
  expect(editor.done).toContain("workbench.action.closeQuickOpen");
  expect(givenBack()).toBe(true);
});

test("who clicks elsewhere keeps the focus there, also after an Escape of before", async () => {
  await ask(input(pressEscape));
  await setFocused(true);
  editor.done.length = 0;
  expect(await ask(input(() => undefined))).toBeUndefined();
  expect(givenBack()).toBe(false);
});

test("an answer that opens something else leaves the focus to that, Escape does not", async () => {
  await ask(
    input(() => "show"),
    (answer) => answer === "show",
  );
  expect(givenBack()).toBe(false);
  await setFocused(true);
  await ask(input(pressEscape), () => true);
  expect(givenBack()).toBe(true);
});

test("an input that was not begun in the Navigator does not end there", async () => {
  await setFocused(false);
  expect(await ask(input(() => "left"))).toBe("left");
  expect(givenBack()).toBe(false);
});

test("Escape is bound only while an input of the Navigator is open, also one that failed", async () => {
  await ask(input(() => "left"));
  await setFocused(true);
  const failing = ask(async () => {
    throw new Error("no input");
  });
  await expect(failing).rejects.toThrow("no input");
  const asks = editor.done.filter((call) => call.startsWith("setContext fulcrum.navigatorAsks"));
  expect(asks.map((call) => call.split(" ").at(-1))).toEqual(["true", "false", "true", "false"]);
});
