/** The transformer that React Native gives for the profiles of its engine, installed by npm, once. */
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { root, run, step } from "../../../lib/steps.mjs";
import { compareFunctions } from "../functions.mjs";

const folder = path.join(root, "out", "bench", "tools", "hermes");
const name = "hermes-profile-transformer";
const version = "0.0.9";

async function transformer() {
  const installed = path.join(folder, "node_modules", name);
  if (!existsSync(installed)) {
    mkdirSync(folder, { recursive: true });
    const options = ["--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--silent"];
    await step(name, () => run("npm", ["install", ...options, `${name}@${version}`]));
  }
  const { default: exported } = await import(pathToFileURL(path.join(installed, "dist", "index.js")).href);
  return exported.default ?? exported;
}

/** Hermes's samples beside the beginnings and ends of calls that the transformer makes of them. */
export async function hermes(engine) {
  const transform = await transformer();
  const compare = async ({ file, info, text }) => {
    const { samples } = JSON.parse(text);
    if (samples === undefined) {
      return { numbers: 0, differences: [], why: "it is the transformer's result, not Hermes's samples" };
    }
    const threads = new Set(samples.map(({ tid }) => tid));
    if (threads.size > 1) {
      return { numbers: 0, differences: [], why: "the transformer makes one thread of several" };
    }
    const time = info.valueTypes.findIndex(({ name }) => name === "time");
    const { functions } = await engine.top(file, time + 1);
    const ours = functions.map(({ name, base, cum }) => ({ name, self: base, total: cum }));
    // It counts microseconds.
    return compareFunctions(ours, costsOf(await transform(file)), 1000);
  };
  return { compare, tool: `${name} ${version}` };
}

/**
 * What calls cost that begin and end inside of one another; of a function that calls itself the outermost call counts.
 * @param {{ ph: "B" | "E", ts: number, args: { url: string } }[]} events `url` is the name as Hermes wrote it
 */
export function costsOf(events) {
  const costs = new Map();
  const open = [];
  const of = (name) => {
    const found = costs.get(name) ?? { name, self: 0, total: 0, open: 0 };
    costs.set(name, found);
    return found;
  };
  let before = 0;
  for (const { ph, ts, args } of events) {
    const inner = open.at(-1);
    if (inner !== undefined) {
      inner.self += ts - before;
    }
    before = ts;
    const cost = of(args.url === "" ? "[unknown]" : args.url);
    if (ph === "B") {
      cost.began = cost.open === 0 ? ts : cost.began;
      cost.open += 1;
      open.push(cost);
    } else {
      open.pop();
      cost.open -= 1;
      cost.total += cost.open === 0 ? ts - cost.began : 0;
    }
  }
  return [...costs.values()].map(({ name, self, total }) => ({ name, self, total }));
}
