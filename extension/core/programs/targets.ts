/** What can be built and then profiled, and by which commands. */
import * as path from "node:path";
import { quoteShellWord } from "../text/shellWords";

/** A program that is built first. It is kept in the workspace's memory, so that *Run Again* builds again. */
export interface BuildTarget {
  kind: "cmake" | "cargo" | "make" | "task";
  /** Absolute: the folder of the CMakeLists.txt at the top, of the package, of the makefile, of the workspace. */
  folder: string;
  /** The target; of a task, its label. */
  name: string;
  /** Of a cargo package: an example, or a program. */
  example?: boolean;
  /** Of a task: the program that it makes, absolute. */
  program?: string;
}

/** A program that is offered for profiling. */
export interface Candidate {
  /** What the row says first. */
  label: string;
  /** Absolute. It may be missing until the target was built; `null` when only the build knows where it is. */
  program: string | null;
  /** Where it is from: `CMake target`, `launch.json`. */
  from: string;
  build?: BuildTarget;
  args?: string[];
  /** Absolute. */
  cwd?: string;
}

/** What is run in a shell, one command after another, in the target's folder. */
export interface BuildCommands {
  commands: string[];
  /** Where the program is looked for by its name, absolute. */
  folder: string;
  /** Which file it is, when that is known beforehand. */
  program?: string;
}

/** A folder with a CMakeCache.txt. */
export interface CMakeBuild {
  /** Absolute. */
  folder: string;
  cache: string;
}

/**
 * How a target of CMake is built: in the build folder that is there, when it has debug information and is optimised as one
 * ships it; else in `build`, or beside everything else in `.fulcrum/build`, with both.
 */
export function cmakeCommands(target: BuildTarget, builds: readonly CMakeBuild[]): BuildCommands {
  const own = path.join(target.folder, ".fulcrum", "build");
  const usable = builds.find((build) => hasDebugInfo(build.cache));
  const fresh = builds.length === 0 ? path.join(target.folder, "build") : own;
  const folder = usable?.folder ?? fresh;
  const build = `cmake --build ${quoteShellWord(folder)} --target ${quoteShellWord(target.name)} --parallel`;
  const configure = `cmake -S ${quoteShellWord(target.folder)} -B ${quoteShellWord(folder)} -DCMAKE_BUILD_TYPE=RelWithDebInfo`;
  return { commands: usable === undefined ? [configure, build] : [build], folder };
}

/** The value of an entry of a CMakeCache.txt. */
export function cacheValue(cache: string, name: string): string | undefined {
  const line = cache.split(/\r?\n/).find((entry) => entry.startsWith(`${name}:`));
  return line?.slice(line.indexOf("=") + 1);
}

function hasDebugInfo(cache: string): boolean {
  const flags = ["CMAKE_C_FLAGS", "CMAKE_CXX_FLAGS"].map((name) => cacheValue(cache, name) ?? "");
  const type = cacheValue(cache, "CMAKE_BUILD_TYPE") ?? "";
  return /^relwithdebinfo$/i.test(type) || flags.some((text) => /(^|\s)-g(\d|gdb\d?)?(\s|$)/.test(text));
}

/** Cargo builds what one ships, with the line numbers that a release build leaves out. */
export function cargoCommands(target: BuildTarget, targetFolder: string): BuildCommands {
  const which = target.example === true ? "--example" : "--bin";
  const folder = path.join(targetFolder, "release", ...(target.example === true ? ["examples"] : []));
  return {
    commands: [`CARGO_PROFILE_RELEASE_DEBUG=true cargo build --release ${which} ${quoteShellWord(target.name)}`],
    folder,
    program: path.join(folder, target.name),
  };
}

/** As the makefile says; when that leaves out debug information, with its flags and `-g`. */
export function makeCommands(target: BuildTarget, makefile: string): BuildCommands {
  const name = quoteShellWord(target.name);
  const flags = ["CFLAGS", "CXXFLAGS"].map((variable) => {
    const own = makeVariable(makefile, variable) ?? "-O2";
    return `${variable}=${quoteShellWord(`${own} -g`)}`;
  });
  const hasFlag = /(^|[\s=])-g(\d|gdb\d?)?(\s|$)/m.test(makefile);
  return {
    commands: [hasFlag ? `make ${name}` : `make -B ${name} ${flags.join(" ")}`],
    folder: target.folder,
    program: path.join(target.folder, target.name),
  };
}

/** What a makefile assigns to a variable, what it adds included, with references to others as they are. */
export function makeVariable(makefile: string, name: string): string | undefined {
  let value: string | undefined;
  for (const line of joined(makefile).split("\n")) {
    const match = new RegExp(`^\\s*(?:export\\s+|override\\s+)?${name}\\s*([:?+!]?)=\\s*(.*?)\\s*(?:#.*)?$`).exec(line);
    if (match !== null) {
      value = match[1] === "+" && value !== undefined ? `${value} ${match[2]}` : (match[2] ?? "");
    }
  }
  return value;
}

/** Lines that end in a backslash with the ones that go on. */
export function joined(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(/[ \t]*\\\n\s*/g, " ");
}
