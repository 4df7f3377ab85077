import { expect, test } from "vitest";
import { Latest } from "../../extension/core/engine/latest";

function held<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

test("a late answer to an earlier question does not replace the latest", async () => {
  const latest = new Latest("nothing");
  const [first, second] = [held<string>(), held<string>()];
  const asked = [latest.ask(() => first.promise), latest.ask(() => second.promise)];
  expect(latest.value).toBe("nothing");
  second.resolve("second");
  expect(await asked[1]).toBe(true);
  first.resolve("first");
  expect(await asked[0]).toBe(false);
  expect(latest.value).toBe("second");
});

test("only a failure of the last question is reported, and the old answer stays", async () => {
  const latest = new Latest("nothing");
  const [first, second] = [held<string>(), held<string>()];
  const asked = [latest.ask(() => first.promise), latest.ask(() => second.promise)];
  first.reject(new Error("first"));
  expect(await asked[0]).toBe(false);
  second.reject(new Error("second"));
  await expect(asked[1]).rejects.toThrow("second");
  expect(latest.value).toBe("nothing");
});
