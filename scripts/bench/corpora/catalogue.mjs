/** Public corpora: other people's recordings, on which readers are measured. None of it is part of this repository. */

/**
 * @typedef {object} Corpus
 * @property {string} name
 * @property {string} repository owner and name on GitHub
 * @property {string[]} folders where its recordings are
 * @property {RegExp} files which files below them are recordings, or claim to be
 * @property {RegExp} [leave] which of those are not: what tools made of recordings, and programs that were recorded
 * @property {string} peer what its numbers are compared with
 */

/** @type {Corpus[]} */
export const corpora = [
  {
    name: "speedscope",
    repository: "jlfwong/speedscope",
    folders: ["sample/profiles"],
    files: /./,
    leave: /(README\.md|\.gitignore|\.DS_Store|\.map|\.grammar)$/,
    peer: "speedscope's own snapshots",
  },
  {
    name: "gprof2dot",
    repository: "jrfonseca/gprof2dot",
    folders: ["tests"],
    files: /./,
    leave: /(\.dot|test\.py|\.gitattributes|\.gitignore|\.orig\.txt)$/,
    peer: "gprof2dot",
  },
  {
    name: "FlameGraph",
    repository: "brendangregg/FlameGraph",
    folders: ["test"],
    files: /^test\/[^/]*\.txt$/,
    peer: "stackcollapse-perf.pl's results in the repository",
  },
  {
    name: "pprof",
    repository: "google/pprof",
    folders: ["profile/testdata"],
    files: /./,
    leave: /\.string$/,
    peer: "pprof",
  },
  {
    name: "async-profiler",
    repository: "async-profiler/async-profiler",
    folders: ["test"],
    files: /\.(collapsed|jfr)$/,
    peer: "the sums of its lines",
  },
  {
    name: "JMC",
    repository: "openjdk/jmc",
    folders: ["application", "core"],
    files: /\.jfr$/,
    peer: "jfr of the JDK",
  },
  {
    name: "Firefox Profiler",
    repository: "firefox-devtools/profiler",
    folders: ["src/test/fixtures/upgrades", "profiler-cli/src/test/fixtures"],
    files: /\.(json|gz|txt|cpuprofile)$/,
    peer: "none that runs by itself",
  },
  {
    name: "perfparser",
    repository: "KDAB/perfparser",
    folders: ["tests/auto/perfdata"],
    files: /\.data(\.|$)/,
    leave: /expected\.txt/,
    peer: "perf script",
  },
];
