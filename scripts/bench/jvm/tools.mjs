/** This machine's JDKs, jars that Maven fetches, and programs compiled with both. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { engineBinary, root, run, StepError, target, which } from "../../lib/steps.mjs";

export const fulcrum = engineBinary;
export const agent = path.join(target, "release", "libfulcrum_jvm_agent.so");
export const work = path.join(root, "out", "bench", "jvm");
const sources = path.join(root, "scripts", "bench", "jvm", "java");

/** The jars: group, artifact, version, and the jar's classifier. Dependencies are fetched too, except for Kieker. */
const wanted = [
  ["org.openjdk.jmh", "jmh-generator-annprocess", "1.37"],
  ["net.kieker-monitoring", "kieker", "1.15.4", "aspectj"],
  ["tools.profiler", "async-profiler", "4.1"],
  ["com.h2database", "h2", "2.3.232"],
  ["org.apache.lucene", "lucene-core", "9.12.0"],
  ["xalan", "xalan", "2.7.3"],
  ["xalan", "serializer", "2.7.3"],
  ["org.apache.tomcat.embed", "tomcat-embed-core", "10.1.34"],
  ["org.jacorb", "jacorb", "3.9"],
  // It needs javax.rmi, which JDK 11 removed.
  ["org.jboss.spec.javax.rmi", "jboss-rmi-api_1.0_spec", "1.0.6.Final"],
];

/** JDK 17 and newer, oldest first. */
export async function findJdks() {
  const homes = [which("javac"), ...folders("/usr/lib/jvm").map((folder) => path.join(folder, "bin", "javac"))]
    .filter((javac) => javac !== undefined && existsSync(javac))
    .map((javac) => path.dirname(path.dirname(realpathSync(javac))));
  const jdks = [];
  for (const home of new Set(homes)) {
    const release = readFileSync(path.join(home, "release"), "utf8");
    const name = /^JAVA_VERSION="(.*)"$/m.exec(release)?.[1] ?? "";
    const version = Number.parseInt(name, 10);
    if (version >= 17) {
      jdks.push({ home, version, name, java: path.join(home, "bin", "java") });
    }
  }
  if (jdks.length === 0) {
    throw new StepError("No JDK was found. Install default-jdk-headless.");
  }
  return jdks.sort((a, b) => a.version - b.version);
}

function folders(of) {
  return existsSync(of) ? readdirSync(of).map((name) => path.join(of, name)) : [];
}

/** Paths of all jars. */
export async function fetchJars() {
  if (which("mvn") === undefined) {
    throw new StepError("Maven is missing. Install maven, which fetches the programs to compare with.");
  }
  mkdirSync(work, { recursive: true });
  const list = path.join(work, "jars");
  const pom = path.join(work, "pom.xml");
  const text = project();
  if (!existsSync(list) || !existsSync(pom) || readFileSync(pom, "utf8") !== text) {
    writeFileSync(pom, text);
    const local = `-Dmaven.repo.local=${path.join(work, "m2")}`;
    await run("mvn", ["-q", "-B", "-f", pom, local, "dependency:build-classpath", `-Dmdep.outputFile=${list}`]);
  }
  return readFileSync(list, "utf8").trim().split(":");
}

function project() {
  const dependencies = wanted.map(([group, artifact, version, classifier]) => {
    const other = classifier === undefined ? "" : `<classifier>${classifier}</classifier>${alone}`;
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>${other}</dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>fulcrum</groupId><artifactId>bench</artifactId><version>1</version><dependencies>
${dependencies.join("\n")}
</dependencies></project>
`;
}

/** Kieker's jar includes its dependencies. */
const alone = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>";

export function jar(jars, name) {
  const found = jars.find((file) => path.basename(file).startsWith(`${name}-`));
  if (found === undefined) {
    throw new StepError(`${name} is not among the jars. Remove ${work} and try again.`);
  }
  return found;
}

/** Compiles some of our Java files for JDK 11 and later, and returns the folder of classes. */
export async function compile(jdk, name, files, jars) {
  const classes = path.join(work, name);
  rmSync(classes, { recursive: true, force: true });
  mkdirSync(classes, { recursive: true });
  const paths = files.map((file) => path.join(sources, file));
  const options = [
    "-nowarn",
    "--release",
    "11",
    "-cp",
    jars.join(":"),
    "-processorpath",
    jars.join(":"),
    "-d",
    classes,
  ];
  await run(path.join(jdk.home, "bin", "javac"), [...options, ...paths]);
  return classes;
}
