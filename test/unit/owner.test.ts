/** An owner disposes of what it owns. */
import { expect, test } from "vitest";
import { Owner } from "../../extension/core/owner";

class Feature extends Owner {
  constructor(private readonly ended: string[]) {
    super();
    this.ownAll(this.part("first"), this.part("second"));
  }

  add(name: string) {
    return this.own(this.part(name));
  }

  private part(name: string) {
    return { name, dispose: () => this.ended.push(name) };
  }
}

test("the newest is disposed of first, each one once", () => {
  const ended: string[] = [];
  const feature = new Feature(ended);
  expect(feature.add("third").name).toBe("third");
  feature.dispose();
  feature.dispose();
  expect(ended).toEqual(["third", "second", "first"]);
});

test("what is added too late is disposed of at once", () => {
  const ended: string[] = [];
  const feature = new Feature(ended);
  feature.dispose();
  feature.add("late");
  expect(ended.at(-1)).toBe("late");
});
