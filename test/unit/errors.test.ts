import { expect, test } from "vitest";
import { troubleOf, troubleText } from "../../extension/core/engine/errors";

test("the engine's error keeps its sentence, advice and blame", () => {
  const trouble = troubleOf({
    code: -32602,
    message: "reading a.coz: line 3: expected a record",
    data: { blame: "user", advice: "Choose a file that coz wrote" },
  });
  expect(trouble.blame).toBe("user");
  expect(troubleText(trouble)).toBe("reading a.coz: line 3: expected a record. Choose a file that coz wrote.");
  expect(trouble.connectionLost).toBe(false);
});

const lost: [error: unknown, connectionLost: boolean][] = [
  [{ code: -32097, message: "Pending response rejected since connection got disposed" }, true],
  [{ message: "Connection is closed." }, true],
  [{ code: -32099, message: "Client is not running" }, true],
  [{ code: -32603, message: "a request panicked" }, false],
  [new Error("nothing of the kind"), false],
];
test.each(lost)("%j", (error, connectionLost) => {
  expect(troubleOf(error).connectionLost).toBe(connectionLost);
  expect(troubleText(troubleOf(error)).includes("Fulcrum's engine stopped")).toBe(connectionLost);
});

test("any other error is a bug of ours", () => {
  expect(troubleOf("odd")).toMatchObject({ message: "odd.", advice: null, blame: "fulcrum" });
  expect(troubleOf({ code: -32800, message: "cancelled" }).cancelled).toBe(true);
});
