import { expect, test } from "vitest";
import { InOrder } from "../../extension/core/engine/inOrder";

test("a task waits for the one before it, and runs even if that one failed", async () => {
  const order = new InOrder();
  const said: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = order.do(async () => {
    await held;
    said.push("first");
    throw new Error("first");
  });
  const second = order.do(async () => {
    said.push("second");
    return 2;
  });
  await Promise.resolve();
  expect(said).toEqual([]);
  release();
  await expect(first).rejects.toThrow("first");
  expect(await second).toBe(2);
  expect(said).toEqual(["first", "second"]);
});
