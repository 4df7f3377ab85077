/**
 * `npm run bench -- damage [--copies N] [--from FOLDER] [CORPUS…]`: the memory of reading what is left of other people's
 * recordings: N prefixes (200 unless told) and as many damaged copies of every file of the public corpora, and of every gzip file's
 * content. Fails when one of them crashes a reader, when those of one file take half an hour, or when reading one needs more than ten
 * times the memory of reading the whole file. The repositories are those of `npm run bench -- corpora`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { engine, run, StepError, step } from "../lib/steps.mjs";
import { corpora } from "./corpora/catalogue.mjs";
import { listFiles, repositoryOf, unpack } from "./corpora/files.mjs";
import { damageReport, isTooMuch } from "./damage/report.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { describeMachine } from "./lib/machine.mjs";

/** Seconds for all copies of a file. */
const limit = 1800;
const usage = "usage: npm run bench -- damage [--copies N] [--from FOLDER] [CORPUS…]";

export async function bench(args) {
  const { wanted, copies, from } = options(args);
  const program = await build();
  const rows = [];
  for (const corpus of wanted) {
    const files = await filesOf(corpus, from);
    await step(corpus.name, (say) =>
      atOnce(files, async ({ path: place, file }) => {
        say(place);
        rows.push({ corpus: corpus.name, path: place, ...(await measured(program, file, copies)) });
      }),
    );
  }
  const bad = rows.filter((row) => row.failed !== undefined || isTooMuch(row));
  for (const { corpus, path: place, failed, whole, most, how } of bad) {
    console.log(`${corpus}, ${place}: ${failed ?? `${whole} bytes of memory for the file, ${most} for ${how}`}`);
  }
  if (bad.length > 0) {
    throw new StepError(`${bad.length} files have a copy that crashes a reader or needs too much memory.`);
  }
  const { machine, fulcrum, revision } = await describeMachine();
  const text = damageReport(rows, `${new Date().toISOString().slice(0, 10)} on ${machine}, ${fulcrum} (${revision})`);
  if (wanted.length === corpora.length) {
    writeSection("docs/benchmarks.md", "damage", text);
  } else {
    console.log(text);
  }
}

function options(args) {
  const known = { copies: { type: "string", default: "200" }, from: { type: "string" } };
  const { values, positionals } = parseArgs({ args, options: known, strict: false, allowPositionals: true });
  const { copies, from, ...others } = values;
  const wanted = corpora.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const misspelt = positionals.some((name) => !corpora.some((corpus) => corpus.name === name));
  if (
    misspelt ||
    Object.keys(others).length > 0 ||
    !(Number.isInteger(Number(copies)) && copies >= 1) ||
    from === true
  ) {
    throw new StepError(`${usage}, where CORPUS is one of ${corpora.map(({ name }) => name).join(", ")}.`);
  }
  return { wanted, copies: Number(copies), from: from === undefined ? undefined : path.resolve(from) };
}

async function build() {
  const options = ["--release", "--package", "fulcrum-profile-formats", "--example", "damage"];
  await step("damage", () => run("cargo", ["build", ...options], { cwd: engine }));
  return path.join(engine, "target", "release", "examples", "damage");
}

/** Every recording of a corpus, and the content of those that are compressed. */
async function filesOf(corpus, from) {
  const repository = await repositoryOf(corpus, from);
  const { files } = await listFiles(corpus, repository);
  const found = [];
  for (const file of files) {
    for (const read of (await unpack(corpus, repository, file)) ?? []) {
      found.push(read);
      const bytes = readFileSync(read.file);
      if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
        const content = `${read.file}.content`;
        writeFileSync(content, gunzipSync(bytes));
        found.push({ path: `${read.path}, its content`, file: content });
      }
    }
  }
  return found;
}

/** Does this for all items, as many at once as there are processors. */
async function atOnce(items, work) {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      await work(item);
    }
  };
  await Promise.all(os.cpus().map(worker));
}

/** @returns {Promise<import("./damage/report.mjs").Measured>} */
async function measured(program, file, copies) {
  const seed = 20261129;
  const { code, signal, stdout, stderr, late } = await runChild([program, file, String(copies), String(seed)], {
    limit,
  });
  if (code === 0) {
    return JSON.parse(stdout);
  }
  return { failed: late ? `took more than ${limit} s` : `${stderr.trim()} (${signal ?? `exit code ${code}`})` };
}
