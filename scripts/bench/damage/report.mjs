/** The memory of reading damaged copies, for the document. */

/**
 * @typedef {object} Measured
 * @property {string} [failed] how the reader crashed
 * @property {number} [whole] bytes of memory for the file, its own included
 * @property {number} [copies] prefixes and damaged copies
 * @property {number} [read] of these
 * @property {number} [most] bytes of memory for one of them
 * @property {string} [how] which
 */

/** @typedef {Measured & { corpus: string, path: string }} Row */

/** Bytes of memory that are nothing: below, a ratio says what an error's sentence weighs beside an empty file. */
const nothing = 1 << 20;
/** How many times the memory of the whole file's reading a copy may need. */
const allowed = 10;

/** @param {Row} row */
export function isTooMuch(row) {
  return row.most > nothing && row.most > allowed * row.whole;
}

/**
 * @param {Row[]} rows
 * @param {string} footer
 */
export function damageReport(rows, footer) {
  const names = [...new Set(rows.map(({ corpus }) => corpus))];
  const lines = names.map((name) =>
    line(
      name,
      rows.filter(({ corpus }) => corpus === name),
    ),
  );
  return [
    "## Memory for damaged recordings",
    "",
    "Every file of the corpora above, and the content of those that are compressed, cut short and damaged in reproducible ways",
    "(`npm run bench -- damage`): bits flipped, numbers and brackets written over, pieces left out, doubled or filled with zeros.",
    "Memory is what is allocated at once while a file is read, the file's own bytes included. *Times*: the most that a copy needed,",
    `as a multiple of what the whole file needs; at most ${allowed} are allowed. Copies that need less than 1 MiB are not compared.`,
    "",
    "| corpus | files | copies | read | refused | times | most memory |",
    "|---|---:|---:|---:|---:|---:|---:|",
    ...lines,
    line("**together**", rows),
    "",
    `Measured ${footer}.`,
  ].join("\n");
}

/** @param {Row[]} rows */
function line(name, rows) {
  const sum = (of) => rows.reduce((total, row) => total + of(row), 0);
  const copies = sum((row) => row.copies);
  const read = sum((row) => row.read);
  const compared = rows.filter(({ most }) => most > nothing).map(({ most, whole }) => most / whole);
  const times = compared.length === 0 ? "–" : Math.max(...compared).toFixed(1);
  const most = Math.max(...rows.map(({ most, whole }) => Math.max(most, whole)));
  return `| ${name} | ${rows.length} | ${copies} | ${read} | ${copies - read} | ${times} | ${(most / 1e6).toFixed(1)} MB |`;
}
