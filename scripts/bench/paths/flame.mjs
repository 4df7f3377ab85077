/** What the editor asks for while somebody looks at flame graphs, by dice that are the same each time. */
import { generator } from "../lib/statistics.mjs";

/** A wide screen: boxes narrower than one of so many pixels are not asked for. */
const pixels = 1920;
/** As the editor asks: twice as many rows as it shows. */
const depths = 300;
const labels = 20;

/**
 * Draws, zooms into boxes, goes to places within them, merges the paths of boxes, and labels some.
 * @param {import("./server.mjs").Server} server
 * @param {number} id the navigator
 * @param {number} searches how often to begin anew
 * @param {number} seed of the dice
 * @returns {Promise<Record<string, number[]>>} milliseconds by what was asked for
 */
export async function drawAll(server, id, searches, seed = 11) {
  const random = generator(seed);
  const times = {};
  const draw = async (kind, what, left = 0, right = 1) => {
    const minimum = (right - left) / pixels;
    const { answer, ms } = await server.ask("fulcrum/navigator/flame", { id, what, left, right, minimum, depths });
    times[kind] = [...(times[kind] ?? []), ms];
    return answer;
  };
  const whole = { kind: "tree", root: null };
  await draw("first flame graph", whole);
  for (let search = 0; search < searches; search += 1) {
    const all = await draw("whole tree", whole);
    const left = random() * 0.9;
    await draw("a tenth of it", whole, left, left + 0.1);
    const box = 1 + Math.floor(random() * (all.node.length - 1));
    const zoomed = await draw("below a box", { kind: "tree", root: all.node[box] });
    const { length } = zoomed.trail;
    const path = zoomed.trail.slice(Math.max(1, length - 1 - Math.floor(random() * 4)));
    const merged = (side) => ({ kind: "merged", path, side, along: [] });
    await draw("callers of a path", merged("callers"));
    await draw("callees of a path", merged("callees"));
    const name = merged("callers");
    await draw("callers of a function", { ...name, path: path.slice(-1) });
    await draw("callees of a function", { ...name, path: path.slice(-1), side: "callees" });
    if (search < labels) {
      const command = { kind: "selectPath", path };
      await server.ask("fulcrum/navigator/command", { id, command });
      await server.ask("fulcrum/navigator/command", { id, command: { kind: "label", name: `bottleneck ${search}` } });
      await draw("with a new label", whole);
    }
  }
  return times;
}
