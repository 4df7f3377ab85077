/** DHAT's files, as Valgrind's own viewer (`dh_view.js`) reads them. */
import { existsSync, readFileSync } from "node:fs";
import vm from "node:vm";
import { runChild } from "../../lib/children.mjs";
import { compareFunctions } from "../functions.mjs";
import { costsOfStacks, stacksOf } from "./trees.mjs";
import { functionAt } from "./valgrind.mjs";

const viewer = "/usr/libexec/valgrind/dh_view.js";

/** What the viewer calls what we read, by what the file's mode counts. */
const fields = {
  blocks: { total: "_totalBlocks", "at peak": "_atTGmaxBlocks", "at end": "_atTEndBlocks" },
  bytes: {
    total: "_totalBytes",
    "at peak": "_atTGmaxBytes",
    "at end": "_atTEndBytes",
    read: "_readsBytes",
    written: "_writesBytes",
  },
};

export async function dhat(engine) {
  if (!existsSync(viewer)) {
    return undefined;
  }
  const { stdout } = await runChild(["valgrind", "--version"]);
  const source = readFileSync(viewer, "utf8");
  const compare = async ({ file, info, text }) => {
    const { root, frames } = treeOf(source, JSON.parse(text));
    const all = { numbers: 0, differences: [] };
    for (const [index, { name, total }] of info.valueTypes.entries()) {
      const field = fieldOf(name);
      const { functions } = await engine.top(file, index + 1);
      const ours = functions.map((it) => ({ name: it.name, self: it.base, total: it.cum }));
      const theirs = costsOfStacks(stacksOf(chain(root, frames.map(functionAt), field, 1)));
      const { numbers, differences } = compareFunctions(
        [{ name: "", self: total }, ...ours],
        [{ name: "", self: root[field] }, ...theirs],
        1,
      );
      all.numbers += numbers;
      all.differences.push(...differences.map((it) => `${name}: ${it}`));
    }
    return all;
  };
  return { compare, tool: `dh_view.js of ${stdout.trim()}` };
}

/** The viewer's tree of a file, without the page that shows it. */
function treeOf(source, data) {
  const page = vm.createContext({ document: { title: "" }, window: {}, performance, Intl });
  const option = { selected: true, disabled: false };
  page.data = data;
  page.select = { childNodes: [], selectedIndex: 0 };
  return vm.runInContext(
    `${source};
     select.childNodes = gSelectData.map(() => (${JSON.stringify(option)}));
     gSelect = select; gData = data; buildTree(); ({ root: gRoot, frames: gData.ftbl })`,
    page,
  );
}

/** `allocated`, `allocated blocks`, `blocks at peak`, `read`… */
function fieldOf(name) {
  const part = /(at peak|at end|read|written)$/.exec(name)?.[1] ?? "total";
  return fields[/\b(blocks|events)\b/.test(name) ? "blocks" : "bytes"][part];
}

/** A node of the viewer's has several frames, innermost first, and its children those that called the last of them. */
function chain(node, names, field, from) {
  const callers = (node._kids ?? []).flatMap((kid) => chain(kid, names, field, 0));
  return node._frames
    .slice(from)
    .reduceRight((above, frame) => [{ name: names[frame], cost: node[field], callers: above }], callers);
}
