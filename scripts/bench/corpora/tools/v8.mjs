/** Logs of `node --prof`: Fulcrum reads what `--prof-process --preprocess` makes of them, and node prints ticks by function. */
import { run } from "../../../lib/steps.mjs";
import { compareFunctions } from "../functions.mjs";

export async function v8(engine) {
  const version = (await run("node", ["--version"])).stdout.trim();
  const compare = async ({ file, info, recording }) => {
    const { stdout } = await run("node", ["--prof-process", recording]);
    const { functions } = await engine.top(file, 1);
    const all = /\((\d+) ticks/.exec(stdout)?.[1];
    return compareFunctions(
      [{ name: "", self: info.valueTypes[0].total }, ...functions.map((it) => ({ name: it.name, self: it.base }))],
      [{ name: "", self: Number(all) }, ...ticksOf(stdout)],
      1,
    );
  };
  return { compare, tool: `node --prof-process ${version}` };
}

/**
 * Functions with their own ticks, named as Fulcrum does.
 * @param {string} printed
 * @returns {import("../functions.mjs").Cost[]}
 */
export function ticksOf(printed) {
  const names = { "Shared libraries": library, JavaScript: script, "C++": (name) => name };
  const found = Object.entries(names).flatMap(([title, name]) => {
    const from = printed.indexOf(`\n [${title}]:\n`);
    const section = from < 0 ? "" : printed.slice(from + 1).split("\n\n")[0];
    return [...section.matchAll(/^ +(\d+) +[\d.]+%(?: +[\d.]+%)? +(\S.*)$/gm)].map(([, ticks, text]) => ({
      name: name(text),
      self: Number(ticks),
    }));
  });
  const unaccounted = Number(/, (\d+) unaccounted/.exec(printed)?.[1] ?? 0);
  return [...found, { name: "[unknown]", self: unaccounted }];
}

function library(path) {
  return `[${unquoted(path)
    .split("/")
    .at(-1)
    .replace(/^\[|\]$/g, "")}]`;
}

/** `JS: ^scan /lib/_tsc.js:9382:16`: what kind of code it is and how it was compiled, the function, and its place. */
function script(text) {
  if (text.startsWith("RegExp: ")) {
    // Several of one text have numbers.
    return text.slice("RegExp: ".length).replace(/ \{\d+\}$/, "");
  }
  const [, name, file, place] = /^\w+: [*~^+]?"?(.*?) ?(\S*?):(\d+:\d+)"?$/.exec(text) ?? [];
  if (file === undefined) {
    return unquoted(text.replace(/^\w+: [*~^+]?/, ""));
  }
  return /^(<anonymous>)?$/.test(name) ? `(anonymous) ${file.split("/").at(-1)}:${place}` : name;
}

function unquoted(text) {
  return text.replace(/^"(.*)"$/, "$1");
}
