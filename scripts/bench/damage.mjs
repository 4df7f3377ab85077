/**
 * `npm run bench -- damage [--copies N] [--from FOLDER] [--resume] [CORPUS…]`: the memory of reading what is left of other people's
 * recordings: N prefixes (200 unless told) and as many damaged copies of every file of the public corpora, and of every gzip file's
 * content. Fails when one of them crashes a reader or takes it a minute, or when its reading needs more than ten times the memory
 * of the whole file's. The repositories are those of `npm run bench -- corpora`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { engine, run, StepError, step } from "../lib/steps.mjs";
import { corpora } from "./corpora/catalogue.mjs";
import { listFiles, repositoryOf, unpack } from "./corpora/files.mjs";
import { damageReport, isTooMuch } from "./damage/report.mjs";
import { runChild } from "./lib/children.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine } from "./lib/machine.mjs";

/** Seconds for all copies of a file. */
const limit = 1800;
const usage = "usage: npm run bench -- damage [--copies N] [--from FOLDER] [--resume] [CORPUS…]";

export async function bench(args) {
  const { wanted, copies, from, resume } = options(args);
  const program = await build();
  const journal = new Journal("damage");
  const rows = [];
  for (const corpus of wanted) {
    const files = await filesOf(corpus, from);
    await step(corpus.name, (say) =>
      atOnce(files, async ({ path: place, file, object }) => {
        say(place);
        const key = `${corpus.name} ${place} ${object} ${copies}`;
        const known = resume ? journal.get(key) : undefined;
        rows.push({
          corpus: corpus.name,
          path: place,
          ...(known ?? journal.put(key, await measured(program, file, copies))),
        });
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
  const text = damageReport(rows, `${journal.dates()} on ${machine}, ${fulcrum} (${revision})`);
  if (wanted.length === corpora.length) {
    writeSection("docs/benchmarks.md", "damage", text);
  } else {
    console.log(text);
  }
}

function options(args) {
  const rest = [...args];
  const taken = (name) => {
    const at = rest.indexOf(name);
    return at < 0 ? undefined : (rest.splice(at, 2)[1] ?? "");
  };
  const copies = Number(taken("--copies") ?? 200);
  const from = taken("--from");
  const resume = rest.includes("--resume");
  const names = rest.filter((name) => name !== "--resume");
  const unknown = names.filter((name) => !corpora.some((corpus) => corpus.name === name));
  if (unknown.length > 0 || !Number.isInteger(copies) || copies < 1 || from === "") {
    throw new StepError(`${usage}, where CORPUS is one of ${corpora.map(({ name }) => name).join(", ")}.`);
  }
  return {
    wanted: corpora.filter(({ name }) => names.length === 0 || names.includes(name)),
    copies,
    from: from === undefined ? undefined : path.resolve(from),
    resume,
  };
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
      const { object } = file;
      found.push({ ...read, object });
      const bytes = readFileSync(read.file);
      if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
        const content = `${read.file}.content`;
        writeFileSync(content, gunzipSync(bytes));
        found.push({ path: `${read.path}, its content`, file: content, object });
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
