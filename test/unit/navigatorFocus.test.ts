/** Where the keyboard focus goes when an input of the Navigator ends. */
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

/** The page loses the focus to the input, which then ends with `end`. */
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

test("an answer returns the focus", async () => {
  expect(await ask(input(() => "left"))).toBe("left");
  expect(givenBack()).toBe(true);
});

test("Escape returns the focus, and closes the input", async () => {
  expect(await ask(input(pressEscape))).toBeUndefined();
  expect(editor.done).toContain("workbench.action.closeQuickOpen");
  expect(givenBack()).toBe(true);
});

test("a click elsewhere keeps the focus there, also after an earlier Escape", async () => {
  await ask(input(pressEscape));
  await setFocused(true);
  editor.done.length = 0;
  expect(await ask(input(() => undefined))).toBeUndefined();
  expect(givenBack()).toBe(false);
});

test("an answer that opens something else leaves the focus there; Escape does not", async () => {
  await ask(
    input(() => "show"),
    (answer) => answer === "show",
  );
  expect(givenBack()).toBe(false);
  await setFocused(true);
  await ask(input(pressEscape), () => true);
  expect(givenBack()).toBe(true);
});

test("an input that was not opened from the Navigator does not move the focus to it", async () => {
  await setFocused(false);
  expect(await ask(input(() => "left"))).toBe("left");
  expect(givenBack()).toBe(false);
});

test("Escape is bound only while an input of the Navigator is open, and is unbound after a failure", async () => {
  await ask(input(() => "left"));
  await setFocused(true);
  const failing = ask(async () => {
    throw new Error("no input");
  });
  await expect(failing).rejects.toThrow("no input");
  const asks = editor.done.filter((call) => call.startsWith("setContext fulcrum.navigatorAsks"));
  expect(asks.map((call) => call.split(" ").at(-1))).toEqual(["true", "false", "true", "false"]);
});
