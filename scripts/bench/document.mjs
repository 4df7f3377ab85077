/** docs/benchmarks.md: a section for each benchmark, replaced by its newest output. No number comes from elsewhere. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../lib/steps.mjs";

const file = path.join(root, "docs", "benchmarks.md");
const head = "# Benchmarks\n\nEvery number here was printed by `npm run bench`. Run it again to replace them.\n";

export function writeSection(name, text) {
  const begin = `<!-- bench ${name} -->`;
  const end = `<!-- end ${name} -->`;
  const section = `${begin}\n${text.trim()}\n${end}\n`;
  const old = existsSync(file) ? readFileSync(file, "utf8") : head;
  const from = old.indexOf(begin);
  const to = old.indexOf(end);
  const next =
    from >= 0 && to > from
      ? old.slice(0, from) + section + old.slice(to + end.length + 1)
      : `${old.trimEnd()}\n\n${section}`;
  writeFileSync(file, next);
}
