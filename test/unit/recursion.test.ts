import { expect, test } from "vitest";
import { FlameBoxes } from "../../extension/core/flame/boxes";
import { foldedNames } from "../../extension/core/profiles/recursion";
import { pathText } from "../../extension/core/text/cost";

test.each([
  ["", ""],
  ["a b", "a b"],
  ["a f f b", "a f f b"],
  ["f f f", "f×3"],
  ["a f f f f b f f", "a f×4 b f f"],
])("only long recursion is folded in %s", (names, expected) => {
  const path = names.split(" ").filter((name) => name !== "");
  expect(foldedNames(path).map((name) => name.replace(" ×", "×"))).toEqual(expected.split(" ").filter(Boolean));
});

test("different functions with the same name are not folded", () => {
  const short = (name: string) => name.split("::").at(-1) ?? "";
  expect(pathText(["a::f", "b::f", "c::f"], short)).toBe("f → f → f");
  expect(pathText(["a::f", "a::f", "a::f"], short)).toBe("f ×3");
});

test("a box knows how deep in its recursion it is", () => {
  // f calls f and g; g calls f, which is not direct recursion.
  const boxes = new FlameBoxes(
    {
      depth: [0, 1, 2, 2, 3, 3],
      x: [0, 0, 0, 0.5, 0, 0.5],
      width: [1, 1, 0.5, 0.5, 0.4, 0.5],
      name: [0, 1, 1, 2, 3, 1],
      label: [-1, -1, -1, -1, -1, -1],
      cost: [10, 10, 5, 5, 4, 5],
      own: [0, 0, 1, 0, 4, 5],
      against: null,
      // Joined pieces have a name several times.
      names: ["all", "f", "g", "f"],
      containers: [],
    },
    { left: 0, right: 1 },
    0,
  );
  expect([...boxes.times]).toEqual([1, 1, 2, 1, 3, 1]);
});
