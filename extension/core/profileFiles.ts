/** Which files are offered as call-tree profiles. The engine looks at their contents; this only sorts menus. */

/** Endings that nearly always are profiles. Any other file opens by *Open Profile…*. */
export const profileEndings: readonly string[] = [
  ...["pb.gz", "pprof", "pgo", "prof", "folded", "perf-folded", "collapsed", "stacks", "cpuprofile", "speedscope.json"],
  ...["profile.json", "trace.json", "samply.json", "stackprof", "stackprof.json", "otlp.json"],
  ...["jfr", "callgrind", "pstats", "perf", "perf.data", "perf.txt", "otlp", "gprof", "gmon"],
  ...["heap", "heapprofile", "v8log.json", "pyisession", "pftrace", "perfetto-trace"],
];

/** The same as a `when` clause of menus tests it: on the file's name. */
export const profilePattern = new RegExp(
  `\\.(${profileEndings.map((ending) => ending.replaceAll(".", "\\.")).join("|")})(\\.gz|\\.zst)?$|^(profile|trace|Trace-.*)\\.json(\\.gz)?$|^perf\\.data$|^(callgrind|massif|dhat)\\.out`,
);

export function looksLikeProfile(path: string): boolean {
  return profilePattern.test(path.replace(/^.*[/\\]/, ""));
}

/** What a file that one wants to look at opens as: a causal profile has its own views. */
export function isCausal(path: string): boolean {
  return /\.coz$|(^|[/\\])causal-[^/\\]*\.jsonl$|[/\\]\.fulcrum[/\\]runs[/\\]/.test(path);
}
