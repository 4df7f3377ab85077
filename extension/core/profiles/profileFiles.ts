/** Which files are offered as call-tree profiles. The engine looks at their contents; this only sorts menus. */

/** Endings that nearly always are profiles. Any other file opens by *Open Profile…*. */
export const profileEndings: readonly string[] = [
  ...["pb.gz", "pprof", "pgo", "prof", "folded", "perf-folded", "collapsed", "stacks", "cpuprofile"],
  ...["stackprof", "jfr", "callgrind", "massif", "pstats", "perf", "perf.data", "perf.txt", "otlp", "gprof", "gmon"],
  ...["heap", "heapprofile", "pyisession", "pftrace", "perfetto-trace", "gperftools", "jemalloc"],
];

/**
 * Last words of the names of JSON files that are profiles, with a number or without: `profile.json`, `work.stackprof.json`,
 * `ruby-stackprof.json`, `firefox59.json`.
 */
const jsonKinds: readonly string[] = [
  ...["profile", "trace", "speedscope", "samply", "stackprof", "otlp", "v8log", "firefox", "dhat", "pyinstrument"],
  "scalene",
];

/** Kinds whose name in front of `.json` says all: `work.speedscope.json`. A `profile.json` may be anything. */
const unmistakable = ["speedscope", "samply", "stackprof", "v8log", "dhat", "pyinstrument", "scalene"];

/** VS Code has an editor of its own for these. */
const elsewhere = ["cpuprofile", "heapprofile"];

/** Ambiguous endings: only their content shows which of these files are profiles. */
export const ambiguousEndings: readonly string[] = ["json", "txt", "out", "gz"];

/** Files that one double click opens, as an editor's selectors name them. */
export const openedGlobs: readonly string[] = [
  ...plainAndCompressed(oneOf(profileEndings.filter((ending) => !elsewhere.includes(ending)))),
  ...plainAndCompressed(`${oneOf(unmistakable)}.json`),
  // Nobody reads what is compressed as text.
  `*${oneOf(jsonKinds)}*.json.{gz,zst}`,
  ...["perf.data", "{callgrind,massif,dhat}.out*"],
];

/** Files for which *Reopen Editor With…* offers Fulcrum. */
export const offeredGlobs: readonly string[] = [`*.${oneOf([...elsewhere, ...ambiguousEndings, "zst"])}`];

/** As a `when` clause of menus tests it: on the file's name. */
export const profilePattern = new RegExp(
  [
    `\\.(${alternatives(profileEndings)})(\\.gz|\\.zst)?$`,
    `(^|[-_. ])(${alternatives(jsonKinds)})\\d*\\.json(\\.gz|\\.zst)?$`,
    "^Trace-.*\\.json(\\.gz)?$",
    "^perf\\.data$",
    "^(callgrind|massif|dhat)\\.out",
  ].join("|"),
);

export function looksLikeProfile(path: string): boolean {
  return profilePattern.test(path.replace(/^.*[/\\]/, ""));
}

/** How a file opens: a causal profile has views of its own. */
export function isCausal(path: string): boolean {
  return /\.coz$|(^|[/\\])causal-[^/\\]*\.jsonl$|[/\\]\.fulcrum[/\\]runs[/\\]/.test(path);
}

function plainAndCompressed(ending: string): string[] {
  return [`*.${ending}`, `*.${ending}.{gz,zst}`];
}

function oneOf(words: readonly string[]): string {
  return `{${words.join(",")}}`;
}

function alternatives(words: readonly string[]): string {
  return words.map((word) => word.replaceAll(".", "\\.")).join("|");
}
