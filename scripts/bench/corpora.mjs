/**
 * `npm run bench -- corpora [CORPUS…] [--from FOLDER] [--resume] [--report]`: reads every recording of the public corpora, says
 * which are refused and why, and compares the numbers with those of the tools that have their own reader of the same files.
 * Fails when a number differs. The repositories are cloned from GitHub, or taken from FOLDER, where they may be bare. The corpus
 * `recorded` is made by the tools themselves when the benchmark runs.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { root, StepError, step } from "../lib/steps.mjs";
import { corpora } from "./corpora/catalogue.mjs";
import { Engine } from "./corpora/engine.mjs";
import { listFiles, repositoryOf, unpack } from "./corpora/files.mjs";
import { peerOf } from "./corpora/peers.mjs";
import { record, recordings } from "./corpora/recorded.mjs";
import { document, summarise } from "./corpora/report.mjs";
import { Tools } from "./corpora/tools.mjs";
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
  const session = {
    engine,
    from,
    tools: new Tools(engine, from),
    journal: new Journal("corpora"),
    known: resume || report,
  };
  const parts = [];
  for (const corpus of wanted) {
    const part = corpus === recorded ? await partRecorded(session) : await partOf(corpus, session);
    parts.push(part);
    print(corpus, part.rows);
  }
  await finish(parts, wanted.length === all.length, session.journal.dates());
}

/** What the tools record here. */
const recorded = { name: "recorded", peer: "the tools themselves" };
const all = [...corpora, recorded];

async function partOf(corpus, session) {
  const repository = await repositoryOf(corpus, session.from);
  const { revision, files } = await listFiles(corpus, repository);
  const { peer, version } = await peerOf(corpus.name, repository, session.engine);
  const rows = await step(corpus.name, async (say) => {
    const found = [];
    for (const file of files) {
      say(file.path);
      const key = `${corpus.name} ${file.path} ${file.object}`;
      const known = session.known ? session.journal.get(key) : undefined;
      found.push(known ?? session.journal.put(key, await rowsOf({ corpus, repository, file, peer }, session)));
    }
    return found.flat();
  });
  return { corpus, revision, version, rows };
}

async function partRecorded(session) {
  const rows = await step(recorded.name, async (say) => {
    const found = [];
    for (const recording of recordings) {
      say(recording.name);
      const key = `${recorded.name} ${recording.name}`;
      const known = session.known ? session.journal.get(key) : undefined;
      found.push(known ?? session.journal.put(key, await rowRecorded(recording, session)));
    }
    return found;
  });
  return { corpus: recorded, rows };
}

async function rowRecorded(recording, session) {
  const { name, format } = recording;
  const row = { corpus: recorded.name, path: name, absent: false, kind: format };
  const made = await record(recording, session.from);
  if (made === undefined) {
    return { ...row, absent: true };
  }
  if (format !== "Xdebug") {
    return { ...row, ...(await one({ ...made, path: name, format, peer: () => nothing("it has no tool") }, session)) };
  }
  const { peer, version } = await peerOf("gprof2dot", undefined, session.engine);
  return { ...row, ...(await one({ ...made, path: name, format, peer }, session)), tool: version };
}

function options(args) {
  const at = args.indexOf("--from");
  const from = at < 0 ? undefined : args[at + 1];
  const rest = at < 0 ? args : [...args.slice(0, at), ...args.slice(at + 2)];
  const { names, quick, resume, report } = parseOptions(rest);
  const unknown = names.filter((name) => !all.some((corpus) => corpus.name === name));
  if (unknown.length > 0 || quick || (at >= 0 && from === undefined)) {
    const known = all.map(({ name }) => name).join(", ");
    throw new StepError(
      `usage: npm run bench -- corpora [CORPUS…] [--from FOLDER] [--resume] [--report], where CORPUS is one of ${known}.`,
    );
  }
  const wanted = all.filter(({ name }) => names.length === 0 || names.includes(name));
  return { wanted, from: from === undefined ? undefined : path.resolve(from), resume, report };
}

/** @returns {Promise<import("./corpora/report.mjs").Row[]>} */
async function rowsOf({ corpus, repository, file, peer }, session) {
  const row = { corpus: corpus.name, path: file.path, absent: false };
  const unpacked = await unpack(corpus, repository, file);
  if (unpacked === undefined) {
    return [{ ...row, absent: true }];
  }
  const rows = [];
  for (const read of unpacked) {
    rows.push({ ...row, path: read.path, ...(await one({ ...read, peer }, session)) });
  }
  return rows;
}

const nothing = (why) => ({ numbers: 0, differences: [], why });

/** What was read of a file, and how it compares: with its corpus's peer, or else with the format's own tool. */
async function one({ file, path, recording, format, peer }, { engine, tools }) {
  const { info, refused } = await engine.info(file);
  if (refused !== undefined) {
    return { refused };
  }
  // Hermes writes Chrome's format.
  const kind = format ?? (info.format === "Chrome trace" && /hermes/i.test(path) ? "Hermes" : info.format);
  const read = { file, path, info, recording };
  let compared = await peer(read);
  const tool = compared.numbers === 0 ? await tools.of(kind) : undefined;
  if (tool !== undefined) {
    compared = await tool.compare({ ...read, text: textOf(file) });
  }
  const { numbers, differences, why } = compared;
  return { format: info.format, kind, notes: info.notes.length, numbers, differences, why, tool: tool?.tool };
}

/** A file as text, unpacked. */
function textOf(file) {
  const bytes = readFileSync(file);
  return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString();
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
