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

/** What a file that one wants to look at opens as: a causal profile has its own views. */
export function isCausal(path: string): boolean {
  return /\.coz$|(^|[/\\])causal-[^/\\]*\.jsonl$|[/\\]\.fulcrum[/\\]runs[/\\]/.test(path);
}

function alternatives(words: readonly string[]): string {
  return words.map((word) => word.replaceAll(".", "\\.")).join("|");
}
