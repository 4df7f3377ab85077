/** Programs of a workspace: those that are built, and those that can be built first. */
import { constants } from "node:fs";
import { access, open, readdir, readFile, stat } from "node:fs/promises";
import * as path from "node:path";
import type { ProgramFacts } from "../../core/causal/runRequest";
import { cargoTargets, isCargoPackage } from "../../core/programs/cargo";
import { cmakePrograms, isCMakeProject } from "../../core/programs/cmake";
import { type ElfFacts, elfFacts, progressMark } from "../../core/programs/elf";
import { type IgnoreRules, isIgnored, isSearched, mayBeProgram, parseIgnore } from "../../core/programs/ignore";
import { isJavaProject, type JavaSource, type JavaTarget, javaTargets } from "../../core/programs/java";
import { launchCandidates, taskCandidates } from "../../core/programs/launch";
import { makePrograms } from "../../core/programs/make";
import { type Candidate, type CMakeBuild, cacheValue } from "../../core/programs/targets";

/** How many files and folders are looked at, so that a huge workspace takes no longer. */
const mostEntries = 40_000;
const deepest = 10;
const mostPrograms = 60;
/** Of Java, which are read for their main methods. */
const mostSources = 5000;

export interface BuiltProgram {
  /** Absolute. */
  file: string;
  hasDebugInfo: boolean;
  /** Milliseconds since 1970. */
  builtAt: number;
}

/** What a workspace folder has to profile. */
export interface Programs {
  /** Those with debug information before others, the newest first. */
  built: BuiltProgram[];
  targets: Candidate[];
  /** Java programs: they are traced, since the causal profiler does not look into a virtual machine. */
  java: JavaTarget[];
}

/** Looks through a folder and everything below it that is not ignored. */
export async function findPrograms(root: string): Promise<Programs> {
  const found = await walk(root);
  const built = (await Promise.all(found.programs.map(builtProgram))).flatMap((it) => it ?? []);
  built.sort((a, b) => Number(b.hasDebugInfo) - Number(a.hasDebugInfo) || b.builtAt - a.builtAt);
  const [targets, java] = await Promise.all([targetsOf(root, found), javaTargetsOf(found)]);
  return { built: built.slice(0, mostPrograms), targets, java };
}

/** The most recently built program of this name below a folder. */
export async function findBuilt(folder: string, name: string): Promise<string | undefined> {
  const { programs } = await walk(folder);
  const named = programs.filter((file) => path.basename(file) === name);
  const built = (await Promise.all(named.map(builtProgram))).flatMap((it) => it ?? []);
  return built.sort((a, b) => b.builtAt - a.builtAt)[0]?.file;
}

/** The build folders of CMake below a project's folder, made from it, the newest first. */
export async function cmakeBuilds(folder: string): Promise<CMakeBuild[]> {
  const { caches } = await walk(folder);
  const all = await Promise.all(
    caches.map(async (file) => ({ folder: path.dirname(file), cache: await textOf(file), at: await writtenAt(file) })),
  );
  const own = path.join(folder, ".fulcrum", "build");
  const ours = await textOf(path.join(own, "CMakeCache.txt"));
  const of = all.filter(({ cache }) => cacheValue(cache, "CMAKE_HOME_DIRECTORY") === folder);
  of.sort((a, b) => b.at - a.at);
  return [...of, ...(ours === "" ? [] : [{ folder: own, cache: ours }])];
}

export async function programFacts(program: string): Promise<ProgramFacts> {
  try {
    const isFile = (await stat(program)).isFile();
    const executable = isFile && (await mayExecute(program));
    return { exists: true, isFile, executable };
  } catch {
    return { exists: false, isFile: false, executable: false };
  }
}

/** Whether a program contains texts such as its source files' names and {@link progressMark}. False when it is missing. */
export async function textsIn(program: string): Promise<(text: string) => boolean> {
  try {
    const bytes = await readFile(program);
    return (text) => bytes.includes(text);
  } catch {
    return () => false;
  }
}

export async function hasProgressPoint(program: string): Promise<boolean> {
  return (await textsIn(program))(progressMark);
}

/** Empty when there is none. */
export async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return "";
  }
}

interface Found {
  programs: string[];
  caches: string[];
  /** CMakeLists.txt, Cargo.toml, Makefile…: absolute. */
  projects: string[];
  /** Rust sources that may be programs: absolute. */
  rust: string[];
  /** pom.xml, build.gradle…: absolute. */
  javaProjects: string[];
  /** Java sources that may be programs: absolute. */
  java: string[];
}

async function walk(root: string): Promise<Found> {
  const found: Found = { programs: [], caches: [], projects: [], rust: [], javaProjects: [], java: [] };
  let left = mostEntries;
  const look = async (
    folder: string,
    depth: number,
    ignores: readonly IgnoreRules[],
    ignored: boolean,
  ): Promise<void> => {
    let entries: import("node:fs").Dirent[];
    try {
      entries = await readdir(folder, { withFileTypes: true });
    } catch {
      return;
    }
    left -= entries.length;
    const rules = parseIgnore(folder, await ignoreText(folder, entries));
    const all = rules === undefined ? ignores : [...ignores, rules];
    for (const entry of entries) {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) {
        const isOut = ignored || isIgnored(all, (base) => slashed(base, file));
        if (left > 0 && depth < deepest && isSearched(slashed(root, file), isOut)) {
          await look(file, depth + 1, all, isOut);
        }
      } else if (entry.isFile()) {
        sort(found, file, entry.name, ignored);
      }
    }
  };
  await look(root, 0, [], false);
  return found;
}

async function ignoreText(folder: string, entries: readonly { name: string }[]): Promise<string> {
  const has = entries.some(({ name }) => name === ".gitignore");
  return has ? textOf(path.join(folder, ".gitignore")) : "";
}

function sort(found: Found, file: string, name: string, ignored: boolean): void {
  if (name === "CMakeCache.txt") {
    found.caches.push(file);
  } else if (/^(CMakeLists\.txt|Cargo\.toml|(GNUm|[Mm])akefile)$/.test(name)) {
    if (!ignored) {
      found.projects.push(file);
    }
  } else if (isJavaProject(name)) {
    if (!ignored) {
      found.javaProjects.push(file);
    }
  } else if (name.endsWith(".rs")) {
    found.rust.push(file);
  } else if (name.endsWith(".java")) {
    found.java.push(file);
  } else if (mayBeProgram(name)) {
    found.programs.push(file);
  }
}

function slashed(base: string, file: string): string {
  return path.relative(base, file).split(path.sep).join("/");
}

/** `undefined` for what is no program. */
async function builtProgram(file: string): Promise<BuiltProgram | undefined> {
  if (!(await mayExecute(file))) {
    return undefined;
  }
  const facts = await factsOf(file);
  return facts?.isProgram === true
    ? { file, hasDebugInfo: facts.hasDebugInfo, builtAt: await writtenAt(file) }
    : undefined;
}

async function factsOf(file: string): Promise<ElfFacts | undefined> {
  try {
    const handle = await open(file);
    try {
      return await elfFacts(async (offset, length) => {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset);
        return buffer.subarray(0, bytesRead);
      });
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

async function targetsOf(root: string, found: Found): Promise<Candidate[]> {
  const projects = await Promise.all(found.projects.map(async (file) => ({ file, text: await textOf(file) })));
  const vscode = path.join(root, ".vscode");
  return [
    ...launchCandidates(await textOf(path.join(vscode, "launch.json")), root),
    ...taskCandidates(await textOf(path.join(vscode, "tasks.json")), root),
    ...projects.flatMap(({ file, text }) => candidatesOf(file, text, projects, found.rust)),
  ];
}

async function javaTargetsOf(found: Found): Promise<JavaTarget[]> {
  if (found.javaProjects.length === 0) {
    return [];
  }
  const projects = found.javaProjects.map(async (file) => {
    const wrapper = path.join(path.dirname(file), path.basename(file) === "pom.xml" ? "mvnw" : "gradlew");
    return { file, text: await textOf(file), hasWrapper: await mayExecute(wrapper) };
  });
  const own = found.java.filter((file) => file.includes("/src/main/java/")).slice(0, mostSources);
  const sources = own.map(async (file): Promise<JavaSource> => ({ file, text: await textOf(file) }));
  return javaTargets(await Promise.all(projects), await Promise.all(sources));
}

interface Project {
  file: string;
  text: string;
}

function candidatesOf(file: string, text: string, projects: readonly Project[], rust: readonly string[]): Candidate[] {
  const folder = path.dirname(file);
  const name = path.basename(file);
  if (name === "CMakeLists.txt") {
    const top = topOf(folder, projects);
    return top === undefined
      ? []
      : cmakePrograms(text).map((target) => ({
          label: target,
          program: null,
          from: "CMake",
          build: { kind: "cmake", folder: top, name: target },
        }));
  }
  if (name === "Cargo.toml") {
    const files = rust
      .filter((source) => source.startsWith(folder + path.sep))
      .map((source) => slashed(folder, source));
    const targets = isCargoPackage(text) ? cargoTargets(text, files) : [];
    return targets.map(({ name: target, example }) => ({
      label: target,
      program: null,
      from: example ? "cargo example" : "cargo",
      build: { kind: "cargo", folder, name: target, example },
    }));
  }
  return makePrograms(text).map((target) => ({
    label: target,
    program: path.join(folder, target),
    from: "make",
    build: { kind: "make", folder, name: target },
  }));
}

/** The folder of the outermost CMakeLists.txt around a folder that makes a project. */
function topOf(folder: string, projects: readonly Project[]): string | undefined {
  const around = projects
    .filter(({ file, text }) => path.basename(file) === "CMakeLists.txt" && isCMakeProject(text))
    .map(({ file }) => path.dirname(file))
    .filter((top) => folder === top || folder.startsWith(top + path.sep));
  return around.sort((a, b) => a.length - b.length)[0];
}

async function mayExecute(program: string): Promise<boolean> {
  try {
    await access(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function writtenAt(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs;
  } catch {
    return 0;
  }
}
