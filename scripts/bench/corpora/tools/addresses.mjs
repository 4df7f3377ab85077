/** Profiles that know addresses only, as Go's pprof reads them: samples by address. */
import { tryRun } from "../../../lib/steps.mjs";
import { findPprof } from "../../lib/pprof.mjs";
import { compareFunctions } from "../functions.mjs";
import { costsOfStacks } from "./trees.mjs";

export async function addresses(engine) {
  const { pprof, version } = await findPprof();
  const compare = async ({ file, info }) => {
    const { code, stdout, output } = await tryRun(pprof, ["-raw", "-symbolize=none", file]);
    if (code !== 0) {
      return { numbers: 0, differences: [], why: `pprof refuses it: ${output.trim().split("\n").at(-1)}` };
    }
    const { samples, names } = rawOf(stdout);
    const all = { numbers: 0, differences: [] };
    for (const [index, { name, total }] of info.valueTypes.entries()) {
      const stacks = samples.map(({ values, locations }) => ({
        frames: locations.length === 0 ? ["[no stack]"] : locations.flatMap((it) => names.get(it)),
        cost: values[index],
      }));
      const { functions } = await engine.top(file, index + 1);
      const theirs = costsOfStacks(stacks);
      const known = new Set(theirs.map((it) => it.name));
      const ours = functions
        .filter((it) => it.cum !== 0 && (known.has(it.name) || !signals(it, total)))
        .map((it) => ({ name: it.name, self: it.base, total: it.cum }));
      const sum = stacks.reduce((all, { cost }) => all + cost, 0);
      const { numbers, differences } = compareFunctions(
        [{ name: "", self: total }, ...ours],
        [{ name: "", self: sum }, ...theirs],
        1,
      );
      all.numbers += numbers;
      all.differences.push(...differences.map((it) => `${name}: ${it}`));
    }
    return all;
  };
  return { compare, tool: `pprof of ${version}` };
}

/** A caller that nearly all samples share: pprof takes it for the signal handler's, and takes it out. */
function signals({ base, cum }, total) {
  return base === 0 && cum >= total * 0.8;
}

/**
 * What `pprof -raw` prints: each sample's values and locations, and the names of the locations' frames, innermost first.
 * @param {string} text
 */
export function rawOf(text) {
  const [, rest] = text.split("\nSamples:\n");
  const [samples, places = ""] = rest.split("\nLocations\n");
  const [locations, mappings = ""] = places.split("\nMappings\n");
  const mapped = new Map();
  for (const [, id, start, offset, file] of mappings.matchAll(
    /^(\d+): 0x([\da-f]+)\/0x[\da-f]+\/0x([\da-f]+) (\S*)/gm,
  )) {
    mapped.set(id, { start: BigInt(`0x${start}`), offset: BigInt(`0x${offset}`), file: file.split("/").at(-1) });
  }
  const names = new Map();
  let frames = [];
  for (const line of locations.split("\n")) {
    const place = /^ *(?:(\d+): 0x([\da-f]+)(?: M=(\d+))?|) *(.*)$/.exec(line);
    const [, id, address, mapping, text] = place;
    if (id !== undefined) {
      frames = [];
      names.set(Number(id), frames);
    }
    const named = /^(.*?)(?: (\S+:\d+:\d+|\S+:\d+)?(?: s=\d+.*)?)?$/.exec(text.trim())?.[1] ?? "";
    if (named !== "") {
      frames.push(named);
    } else if (id !== undefined) {
      frames.push(nameOf(BigInt(`0x${address}`), mapped.get(mapping)));
    }
  }
  const found = [...samples.matchAll(/^ +((?:-?\d+ +)*-?\d+): ([\d ]*)$/gm)].map(([, values, ids]) => ({
    values: values.trim().split(/ +/).map(Number),
    locations: ids.trim() === "" ? [] : ids.trim().split(" ").map(Number),
  }));
  return { samples: found, names };
}

/** A byte of a file, where it is known which, else an address. */
function nameOf(address, mapping) {
  return mapping === undefined || mapping.file === ""
    ? `0x${address.toString(16)}`
    : `0x${(address - mapping.start + mapping.offset).toString(16)} (${mapping.file})`;
}
