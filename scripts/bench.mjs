/** `npm run bench -- NAME…`: runs benchmarks and writes their part of docs/benchmarks.md. Without a name: all. */
import { readdirSync } from "node:fs";
import path from "node:path";
import { writeSection } from "./bench/document.mjs";
import { bootstrap } from "./bootstrap.mjs";
import { main, root, StepError } from "./lib/steps.mjs";

const folder = path.join(root, "scripts", "bench");

await main(import.meta.url, async () => {
  const all = readdirSync(folder)
    .filter((name) => name.endsWith(".mjs") && name !== "document.mjs")
    .map((name) => path.basename(name, ".mjs"));
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    throw new StepError(`There is no benchmark ${unknown.join(", ")}: choose among ${all.join(", ")}.`);
  }
  await bootstrap();
  for (const name of wanted.length > 0 ? wanted : all) {
    const { bench } = await import(path.join(folder, `${name}.mjs`));
    const text = await bench();
    console.log(`\n${text}`);
    writeSection(name, text);
  }
});
