/** The table of the corpora, for the terminal and for the document. */

/**
 * @typedef {object} Row one file
 * @property {string} corpus
 * @property {string} path
 * @property {boolean} absent the copy of the repository does not have its content
 * @property {string} [refused] why
 * @property {string} [format]
 * @property {string} [kind] the format, or what of a format has a tool of its own
 * @property {string} [tool] what it was compared with, where that is not the corpus's peer
 * @property {number} [notes]
 * @property {number} [numbers] compared
 * @property {string[]} [differences]
 * @property {string} [why] nothing was compared
 */

/**
 * What the rows of one corpus add up to.
 * @param {Row[]} rows
 */
export function summarise(rows) {
  const there = rows.filter(({ absent }) => !absent);
  const read = there.filter(({ refused }) => refused === undefined);
  const sum = (of) => read.reduce((total, row) => total + of(row), 0);
  return {
    files: there.length,
    absent: rows.length - there.length,
    read: read.length,
    refused: there.length - read.length,
    notes: read.filter(({ notes }) => notes > 0).length,
    compared: read.filter(({ numbers }) => numbers > 0).length,
    numbers: sum(({ numbers }) => numbers ?? 0),
    differences: sum(({ differences }) => differences?.length ?? 0),
  };
}

/**
 * @param {{ corpus: import("./catalogue.mjs").Corpus, revision: string, version?: string, rows: Row[] }[]} parts
 * @param {string} footer
 */
export function document(parts, footer) {
  const columns = ["files", "read", "refused", "notes", "compared", "numbers", "differences"];
  const line = (name, counts) => `| ${[name, ...columns.map((column) => counts[column])].join(" | ")} |`;
  const all = summarise(parts.flatMap(({ rows }) => rows));
  return [
    "## Other people's recordings",
    "",
    "Every recording in the public repositories of profilers and of tools that open their files (`npm run bench -- corpora`). The",
    "files are fetched for the measurement and are not part of this repository. *Notes*: files for which Fulcrum notes that something is",
    "left out or odd. *Compared*: files for which another tool also has numbers: totals, own and cumulative costs of every function, or",
    "the sum of every stack. No number may differ.",
    "",
    "| corpus | files | read | refused | notes | compared | numbers | differences |",
    "|---|---:|---:|---:|---:|---:|---:|---:|",
    ...parts.map(({ corpus, rows }) => line(corpus.name, summarise(rows))),
    line("**together**", all),
    "",
    `Peers: ${parts.map(({ corpus, version }) => `${corpus.name}: ${version ?? corpus.peer}`).join("; ")}.`,
    ...(all.absent > 0
      ? [`${all.absent} files are missing from the copies of the repositories that were measured.`]
      : []),
    "",
    "Refused, by what Fulcrum says of them:",
    "",
    ...refusals(parts),
    "",
    "Read, but not compared:",
    "",
    ...uncompared(parts),
    "",
    ...formats(parts),
    "",
    `Measured ${footer}. Commits: ${commits(parts)}.`,
  ].join("\n");
}

function commits(parts) {
  const fetched = parts.filter(({ revision }) => revision !== undefined);
  return fetched.map(({ corpus, revision }) => `${corpus.name} ${revision}`).join(", ");
}

/** Formats that have readers since version 0.1, by the names of `kind`, and how the document calls them. */
const kinds = {
  "copied stacks": "`perf.data` with copied stacks",
  "gperftools CPU profile": "gperftools CPU profile",
  "legacy pprof text": "legacy pprof text",
  heapprofile: "`.heapprofile`",
  "V8 log": "V8 log",
  memray: "memray",
  Scalene: "Scalene",
  pyinstrument: "pyinstrument",
  Perfetto: "Perfetto",
  simpleperf: "simpleperf",
  massif: "massif",
  DHAT: "DHAT",
  Instruments: "Instruments",
  "Go trace": "Go's execution trace",
  Haskell: "Haskell",
  Xdebug: "Xdebug",
  Excimer: "Excimer",
  Hermes: "Hermes",
  Safari: "Safari",
  DTrace: "DTrace",
  bpftrace: "bpftrace",
  "gprof2dot JSON": "gprof2dot JSON",
};

/** Formats of which fewer than three recordings are compared with a tool of their own: why. */
const lacking = [
  "- Haskell: no public repository that could be found has another recording; those made here are of programs of GHC's benchmark.",
  "- Safari: only speedscope publishes a recording, and its snapshot is all that others say of it. The Web Inspector runs on macOS",
  "  only.",
  "- Instruments: what is copied from it is its own table of weights and names, so each number in a file is one that Instruments",
  "  printed. Compared are each function's own weights, each row's total with the sum of what was read below it (within what the",
  "  table rounds), and speedscope's snapshots.",
  "- Perfetto: its trace processor is built from its source where `gn`, `ninja` and the libraries for it are installed. Elsewhere, a",
  "  reading by the messages that its Python package has takes its place.",
  "- `.nettrace` is refused with the command that converts it: there are no numbers to compare.",
];

/** A line a format: of how many recordings numbers are compared, and with what. */
function formats(parts) {
  const rows = parts.flatMap(({ corpus, version, rows }) =>
    rows.filter(({ numbers }) => numbers > 0).map((row) => ({ ...row, peer: row.tool ?? version ?? corpus.peer })),
  );
  const lines = Object.entries(kinds).map(([kind, name]) => {
    const mine = rows.filter((row) => row.kind === kind);
    const here = mine.filter(({ corpus }) => corpus === "recorded").length;
    const sum = (of) => mine.reduce((total, row) => total + of(row), 0);
    const counts = [mine.length - here, here, sum(({ numbers }) => numbers), sum((row) => row.differences.length)];
    return `| ${[name, ...counts, [...new Set(mine.map(({ peer }) => peer))].join("; ")].join(" | ")} |`;
  });
  return [
    "Less common formats, each compared with its own tool. *Published*: recordings from the repositories. *Here*: recordings of other",
    "people's programs, made by the format's own tool when the benchmark runs.",
    "",
    "| format | published | here | numbers | differences | compared with |",
    "|---|---:|---:|---:|---:|---|",
    ...lines,
    "",
    ...lacking,
  ];
}

/** A line a reason, with the files that have it. */
function refusals(parts) {
  return parts.flatMap(({ corpus, rows }) =>
    grouped(
      rows.filter(({ refused }) => refused !== undefined).map(({ path, refused }) => [general(refused), path]),
    ).map(([why, files]) => `- ${corpus.name}: ${list(files)}: ${why}`),
  );
}

function uncompared(parts) {
  return parts.flatMap(({ corpus, rows }) =>
    grouped(rows.filter(({ why }) => why !== undefined).map(({ path, why }) => [why, path])).map(
      ([why, files]) => `- ${corpus.name}, ${files.length === 1 ? list(files) : `${files.length} files`}: ${why}.`,
    ),
  );
}

/** Without the place, so that files with the same reason stand together. */
function general(refused) {
  return refused.replace(/^(line \d+|\d+|byte \d+): /, "").replace(/ \(bytes counted after decompression\)/, "");
}

/** @param {[string, string][]} pairs */
function grouped(pairs) {
  const groups = new Map();
  for (const [key, value] of pairs) {
    groups.set(key, [...(groups.get(key) ?? []), value]);
  }
  return [...groups];
}

/** Files by their names, which their folders tell apart where they are the same. */
function list(files) {
  const names = [...new Set(files.map((file) => file.split("/").at(-1)))];
  return names.map((name) => `\`${name}\``).join(", ");
}
