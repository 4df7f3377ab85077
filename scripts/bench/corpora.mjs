/**
 * `npm run bench -- corpora [CORPUS…] [--from FOLDER] [--resume] [--report]`: reads every recording of the public corpora, says
 * which are refused and why, and compares the numbers with those of the tools that have their own reader of the same files.
 * Fails when a number differs. The repositories are cloned from GitHub, or taken from FOLDER, where they may be bare.
 */
import path from "node:path";
import { root, StepError, step } from "../lib/steps.mjs";
import { corpora } from "./corpora/catalogue.mjs";
import { Engine } from "./corpora/engine.mjs";
import { extract, listFiles, repositoryOf } from "./corpora/files.mjs";
import { peerOf } from "./corpora/peers.mjs";
import { document, summarise } from "./corpora/report.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";

/**
 * @param {string[]} args
 * @param {string} program whose reading is measured
 */
export async function bench(args, program = path.join(root, "bin", "fulcrum")) {
  const { wanted, from, resume, report } = options(args);
  const engine = new Engine(program);
  const journal = new Journal("corpora");
  const parts = [];
  for (const corpus of wanted) {
    const repository = await repositoryOf(corpus, from);
    const { revision, files } = await listFiles(corpus, repository);
    const { peer, version } = await peerOf(corpus.name, repository, engine);
    const rows = await step(corpus.name, async (say) => {
      const found = [];
      for (const file of files) {
        say(file.path);
        const key = `${corpus.name} ${file.path} ${file.object}`;
        const known = resume || report ? journal.get(key) : undefined;
        found.push(known ?? journal.put(key, await one({ corpus, repository, file, engine, peer })));
      }
      return found;
    });
    parts.push({ corpus, revision, version, rows });
    print(corpus, rows);
  }
  await finish(parts, wanted.length === corpora.length, journal.dates());
}

function options(args) {
  const at = args.indexOf("--from");
  const from = at < 0 ? undefined : args[at + 1];
  const rest = at < 0 ? args : [...args.slice(0, at), ...args.slice(at + 2)];
  const { names, quick, resume, report } = parseOptions(rest);
  const unknown = names.filter((name) => !corpora.some((corpus) => corpus.name === name));
  if (unknown.length > 0 || quick || (at >= 0 && from === undefined)) {
    const all = corpora.map(({ name }) => name).join(", ");
    throw new StepError(
      `usage: npm run bench -- corpora [CORPUS…] [--from FOLDER] [--resume] [--report], where CORPUS is one of ${all}.`,
    );
  }
  const wanted = corpora.filter(({ name }) => names.length === 0 || names.includes(name));
  return { wanted, from: from === undefined ? undefined : path.resolve(from), resume, report };
}

/** @returns {Promise<import("./corpora/report.mjs").Row>} */
async function one({ corpus, repository, file, engine, peer }) {
  const row = { corpus: corpus.name, path: file.path, absent: false };
  const extracted = await extract(corpus, repository, file);
  if (extracted === undefined) {
    return { ...row, absent: true };
  }
  const { info, refused } = await engine.info(extracted);
  if (refused !== undefined) {
    return { ...row, refused };
  }
  const { numbers, differences, why } = await peer({ file: extracted, path: file.path, info });
  return { ...row, format: info.format, notes: info.notes.length, numbers, differences, why };
}

function print(corpus, rows) {
  const { files, read, refused, notes, numbers, differences } = summarise(rows);
  console.log(
    `${corpus.name}: ${files} files, ${read} read, ${refused} refused, ${notes} with notes, ${numbers} numbers compared, ${differences} differ`,
  );
  for (const row of rows) {
    if (row.refused !== undefined) {
      console.log(`  ${row.path}: ${row.refused}`);
    }
    for (const difference of (row.differences ?? []).slice(0, 5)) {
      console.log(`  DIFFERS ${row.path}: ${difference.slice(0, 300)}`);
    }
  }
}

async function finish(parts, whole, dates) {
  const { differences } = summarise(parts.flatMap(({ rows }) => rows));
  if (differences > 0) {
    throw new StepError(`${differences} numbers differ from the peers'.`);
  }
  if (whole) {
    const { machine, fulcrum, revision } = await describeMachine();
    writeSection("docs/benchmarks.md", "corpora", document(parts, `${dates} on ${machine}, ${fulcrum} (${revision})`));
  }
}
