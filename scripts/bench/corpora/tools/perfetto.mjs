/** Perfetto's traces, as its published messages say: its own reader of traces is downloaded when it runs, which not every machine can. */
import { compareFunctions } from "../functions.mjs";
import { functionsBy } from "./python.mjs";

export async function perfetto(engine) {
  const compare = async ({ file }) => {
    const { functions } = await engine.top(file, 1);
    return compareFunctions(
      functions.map((it) => ({ name: it.name, self: it.base, total: it.cum })),
      await functionsBy("perfetto_functions.py", file),
      1,
    );
  };
  return { compare, tool: "an independent reading by Perfetto's published messages" };
}
