/** Excimer's folded stacks beside its own count of samples by function. */
import { readFileSync } from "node:fs";
import { compareFunctions } from "../functions.mjs";

export async function excimer(engine) {
  const compare = async ({ file, recording }) => {
    const told = JSON.parse(readFileSync(recording, "utf8"));
    const theirs = Object.entries(told).map(([name, { self, inclusive }]) => ({ name, self, total: inclusive }));
    const { functions } = await engine.top(file, 1);
    // Its stacks may begin with a frame that has no name, and that it does not count.
    const named = functions.filter(({ name }) => name !== "[unknown]");
    return compareFunctions(
      named.map((it) => ({ name: it.name, self: it.base, total: it.cum })),
      theirs,
      1,
    );
  };
  return { compare, tool: "Excimer's aggregateByFunction()" };
}
