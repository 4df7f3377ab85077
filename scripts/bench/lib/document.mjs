/** A section of a document, replaced by a benchmark's newest output. The rest of the document is not changed. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../lib/steps.mjs";

const head = "# Benchmarks\n\nEvery number here was printed by `npm run bench`. Run it again to replace them.\n";

/** @param {string} file relative to the repository @param {string} [kind] a new section goes after the last one that begins with this */
export function writeSection(file, name, text, kind) {
  const full = path.join(root, file);
  const old = existsSync(full) ? readFileSync(full, "utf8") : head;
  writeFileSync(full, withSection(old, name, text, kind));
  console.log(`wrote ${file}`);
}

/** A new section goes after the last of its kind, or to the end. */
export function withSection(old, name, text, kind) {
  const begin = `<!-- bench ${name} -->`;
  const end = `<!-- end ${name} -->`;
  const section = `${begin}\n${text.trim()}\n${end}\n`;
  const from = old.indexOf(begin);
  const to = old.indexOf(end);
  if (from >= 0 && to > from) {
    return old.slice(0, from) + section + old.slice(to + end.length + 1);
  }
  const last = kind === undefined ? -1 : old.lastIndexOf(`<!-- end ${kind}`);
  if (last < 0) {
    return `${old.trimEnd()}\n\n${section}`;
  }
  const behind = old.indexOf("\n", last) + 1;
  return `${old.slice(0, behind)}\n${section}${old.slice(behind)}`;
}
