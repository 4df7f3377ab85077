/** A section of a document, replaced by a benchmark's newest output. What stands outside the sections stays. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../lib/steps.mjs";

const head = "# Benchmarks\n\nEvery number here was printed by `npm run bench`. Run it again to replace them.\n";

/** @param {string} file relative to the repository */
export function writeSection(file, name, text) {
  const full = path.join(root, file);
  const old = existsSync(full) ? readFileSync(full, "utf8") : head;
  writeFileSync(full, withSection(old, name, text));
  console.log(`wrote ${file}`);
}

export function withSection(old, name, text) {
  const begin = `<!-- bench ${name} -->`;
  const end = `<!-- end ${name} -->`;
  const section = `${begin}\n${text.trim()}\n${end}\n`;
  const from = old.indexOf(begin);
  const to = old.indexOf(end);
  return from >= 0 && to > from
    ? old.slice(0, from) + section + old.slice(to + end.length + 1)
    : `${old.trimEnd()}\n\n${section}`;
}
