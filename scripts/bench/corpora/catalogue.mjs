/** Public corpora: other people's recordings, on which readers are measured. None of it is part of this repository. */
import { as, dhatTests, perfettoTests, pyinstrumentDemo, scaleneExample, v8Log } from "./unpack.mjs";

/**
 * @typedef {object} Corpus
 * @property {string} name
 * @property {string} repository owner and name on GitHub
 * @property {string[]} folders where its recordings are
 * @property {RegExp} files which files below them are recordings, or claim to be
 * @property {RegExp} [leave] which of those are not: what tools made of recordings, and programs that were recorded
 * @property {string} [revision] the commit that has them, where newer ones do not
 * @property {string} peer what its numbers are compared with
 * @property {import("./unpack.mjs").Unpack} [unpack] where the recordings are inside of files
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
    name: "FlameGraph's DTrace",
    repository: "brendangregg/FlameGraph",
    folders: ["example-dtrace-stacks.txt"],
    files: /./,
    peer: "gprof2dot",
  },
  {
    name: "pprof",
    repository: "google/pprof",
    folders: ["profile/testdata", "internal/driver/testdata", "internal/proftest/testdata", "internal/report/testdata"],
    // The others are what pprof prints, sources, and programs.
    files: /^profile\/testdata\/|\/(cppbench|go)\.[^/]*$|\.cpu$/,
    leave: /\.string$|\/pprof\.[^/]*$/,
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
  {
    name: "hotspot",
    repository: "KDAB/hotspot",
    folders: ["tests/integrationtests"],
    files: /\/perf\.data\./,
    peer: "perf script",
  },
  {
    name: "linux-perf-data",
    repository: "mstange/linux-perf-data",
    folders: ["tests/fixtures"],
    files: /\.data$/,
    peer: "perf script",
  },
  {
    name: "PHP_CachegrindParser",
    repository: "mayflower/PHP_CachegrindParser",
    folders: ["Examples"],
    files: /\/cachegrind\.out\.\d+$|\.dump$/,
    peer: "gprof2dot",
    unpack: as("Xdebug"),
  },
  {
    name: "speedscope's logs",
    repository: "jlfwong/speedscope",
    folders: ["sample/profiles/node"],
    files: /\/isolate[^/]*\.log$/,
    peer: "node --prof-process",
    unpack: v8Log,
  },
  {
    name: "Massif-Visualizer",
    repository: "KDE/massif-visualizer",
    folders: ["test/data"],
    files: /massif\.out/,
    leave: /\.(print|bz2)$/,
    peer: "ms_print of Valgrind",
  },
  {
    name: "MassifVisualization",
    repository: "AndjelaDamnjanovic/MassifVisualization",
    folders: ["tests"],
    files: /\/massif\.out\./,
    peer: "ms_print of Valgrind",
  },
  {
    name: "Valgrind",
    repository: "LouisBrunner/valgrind-macos",
    folders: ["dhat"],
    files: /\/dh_test\.js$/,
    peer: "dh_view.js of Valgrind",
    unpack: dhatTests,
  },
  {
    name: "Rust's DHAT",
    repository: "rust-adventure/yt-dhat-example",
    folders: ["."],
    files: /^dhat-heap\.json$/,
    peer: "dh_view.js of Valgrind",
  },
  {
    name: "Scalene",
    repository: "plasma-umass/scalene",
    folders: ["scalene/scalene-gui"],
    files: /\/(example-profile\.js|profile\.json)$/,
    peer: "Scalene's own sums by function",
    unpack: scaleneExample,
  },
  {
    name: "Hermes",
    repository: "react-native-community/hermes-profile-transformer",
    folders: ["."],
    files: /^[^/]*\.cpuprofile$/,
    revision: "0a7204765d4ca091148d93099c3195f69d8698dc",
    peer: "hermes-profile-transformer",
    unpack: as("Hermes"),
  },
  {
    name: "pyinstrument",
    repository: "joerick/pyinstrument",
    folders: ["html_renderer/demo-data"],
    files: /\.json$/,
    peer: "pyinstrument",
    unpack: pyinstrumentDemo,
  },
  {
    name: "Perfetto",
    repository: "google/perfetto",
    folders: ["test/trace_processor/diff_tests"],
    files: /\/(profiling|stacks|linux|track_event)\/(tests\.py|[^/]*\.textproto)$/,
    peer: "Perfetto's trace processor, or a reading by its messages",
    unpack: perfettoTests,
  },
];
