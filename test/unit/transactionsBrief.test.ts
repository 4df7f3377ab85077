/** Long contexts where there is room for a line. */
import { describe, expect, test } from "vitest";
import { brief } from "../../extension/core/transactions/brief";

const path = "main > reader_loop > execute_command > command_substitute > zread";

describe("the name of a type", () => {
  test("stays, if it can be read", () => {
    const name = "bash: main > reader_loop > execute_command > zread → bash: exec env";
    expect(brief(name)).toBe(name);
    const long = `GET /${"a".repeat(300)}`;
    expect(brief(long)).toBe(long);
  });

  test("has the ends of a context that is too long", () => {
    expect(brief(`bash: ${path} → bash: exec env > ${path}`)).toBe(
      "bash: main > … > zread → bash: exec env > … > zread",
    );
    const six = [1, 2, 3, 4, 5, 6].map((n) => `program${n}: ${path}`).join(" → ");
    expect(brief(six)).toBe(
      "program1: main > … > zread → program2: main > … > zread → … → program5: main > … > zread → program6: main > … > zread",
    );
  });
});
