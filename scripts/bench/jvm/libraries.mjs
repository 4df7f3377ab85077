/** Libraries with probes in all methods: they pass verification, their output is unchanged, and every call is balanced. */
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { runChild } from "../lib/children.mjs";
import { compile, fulcrum, work } from "./tools.mjs";

/** Which classes get probes. */
export const libraries = [
  { name: "H2 2.3.232", main: "UseH2", classes: ["org.h2.*"] },
  { name: "Lucene 9.12.0", main: "UseLucene", classes: ["org.apache.lucene.*"] },
  { name: "Xalan 2.7.3", main: "UseXalan", classes: ["org.apache.xalan.*", "org.apache.xml.*", "org.apache.xpath.*"] },
  {
    name: "Tomcat 10.1.34",
    main: "UseTomcat",
    classes: ["org.apache.catalina.*", "org.apache.coyote.*", "org.apache.tomcat.*"],
  },
  { name: "JacORB 3.9", main: "UseOrb", classes: ["org.jacorb.*"] },
];

export async function runLibraries({ jdks, jars, quick }) {
  const classes = await compile(
    jdks[0],
    "libraries",
    libraries.map(({ main }) => `${main}.java`),
    jars,
  );
  const classpath = [classes, ...jars.filter((file) => !/kieker|async-profiler/.test(path.basename(file)))].join(":");
  const rows = [];
  for (const library of quick ? libraries.slice(0, 1) : libraries) {
    for (const jdk of jdks) {
      rows.push(await runOne(library, jdk, classpath));
    }
  }
  return rows;
}

async function runOne({ name, main, classes }, jdk, classpath) {
  const program = ["-Xverify:all", "-cp", classpath, main];
  const alone = await runChild([jdk.java, ...program], { limit: 120 });
  const { folder, options } = observing(classes, "library");
  const traced = await runChild([fulcrum, "trace", "--quiet", ...options, "--", jdk.java, ...program], { limit: 300 });
  const same = traced.code === alone.code && traced.stdout === alone.stdout && traced.stderr === alone.stderr;
  const read = await runChild([fulcrum, "events", "stats", folder, "--json"], { limit: 300 });
  const stats = read.code === 0 ? JSON.parse(read.stdout) : undefined;
  rmSync(folder, { recursive: true, force: true });
  return {
    name,
    jdk: jdk.name,
    status: alone.code,
    same,
    methods: stats?.methods.length ?? 0,
    calls: stats?.methods.reduce((sum, method) => sum + method.calls, 0) ?? 0,
    unbalanced: stats?.unbalanced,
    notes: stats?.notes ?? [read.stderr.trim()],
    difference: same ? undefined : `${traced.code}\n${traced.stdout}${traced.stderr}`.slice(0, 2000),
  };
}

/** The `fulcrum trace` options that put probes into these classes. */
export function observing(classes, name) {
  const folder = path.join(work, name);
  rmSync(folder, { recursive: true, force: true });
  const filter = path.join(work, `${name}.fulcrum-filter`);
  const rules = classes.map((pattern) => `includemethod ${pattern} *\n`);
  writeFileSync(filter, `observe_method_invocations\n${rules.join("")}`);
  return { folder, options: ["--limit", "8G", "--filter", filter, "--output", folder] };
}
