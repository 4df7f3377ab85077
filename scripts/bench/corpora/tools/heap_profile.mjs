/** V8's `.heapprofile`: sizes added up along the tree that it is. An independent reading, as V8's own tools show it in a window only. */
import { compareFunctions } from "../functions.mjs";

/** What holds the tree together, and is no function. */
const root = "(root)";

export async function heapProfile(engine) {
  const compare = async ({ file, text }) => {
    const { functions } = await engine.top(file, 1);
    const called = functions.filter(({ name }) => name !== root);
    const ours = called.map((it) => ({ name: plain(it.name), self: it.base, total: it.cum }));
    return compareFunctions(ours, sizesOf(JSON.parse(text).head), 1);
  };
  return { compare, tool: "an independent reading of the tree" };
}

/**
 * Functions by name and place, with their sizes.
 * @param {any} head
 * @returns {import("../functions.mjs").Cost[]}
 */
export function sizesOf(head) {
  const found = new Map();
  const visit = ({ callFrame, selfSize, children }, above) => {
    const { functionName, url, lineNumber, columnNumber } = callFrame;
    const key = `${functionName} ${url}:${lineNumber}:${columnNumber}`;
    const known = found.get(key) ?? { name: plain(functionName), self: 0, total: 0 };
    found.set(key, known);
    const inside = above.has(key) ? above : new Set(above).add(key);
    const size = children.reduce((sum, child) => sum + visit(child, inside), selfSize);
    known.self += selfSize;
    known.total += above.has(key) ? 0 : size;
    return size;
  };
  visit(head, new Set());
  return [...found.values()].filter(({ name }) => name !== root);
}

function plain(name) {
  return name === "" || name.startsWith("(anonymous)") ? "(anonymous)" : name;
}
