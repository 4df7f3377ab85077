/**
 * Java programs that Maven or Gradle builds: which there are, how they are built, and the class path that starts them. They are
 * started from their classes, so that neither an executable jar nor a plugin that runs one is needed.
 *
 * Build files are searched by regular expressions: a few elements of a pom.xml matter (`fast-xml-parser` 5.12 has six dependencies), and
 * Gradle's scripts are programs that only Gradle can read.
 */
import * as path from "node:path";
import { quoteShellWord } from "../text/shellWords";

/** A class with a `main` method of a project. It is kept in the workspace's memory. */
export interface JavaTarget {
  kind: "maven" | "gradle";
  /** Absolute: the folder of the module, in which the program runs. */
  folder: string;
  /** Absolute: the folder in which the tool is started; that of the module, or one around it. */
  top: string;
  /** With its package. */
  mainClass: string;
  /** The tool's wrapper is in `top`. */
  hasWrapper: boolean;
  /** Other libraries are needed: for Gradle, its `application` plugin gathers them. */
  hasLibraries: boolean;
}

/** A pom.xml or build.gradle. */
export interface JavaProject {
  /** Absolute. */
  file: string;
  text: string;
  /** `mvnw` or `gradlew` is beside it. */
  hasWrapper: boolean;
}

/** A file of Java source. */
export interface JavaSource {
  /** Absolute. */
  file: string;
  text: string;
}

/** How a target is built, and then started. */
export interface JavaCommands {
  commands: string[];
  /** The file that lists the libraries after the build, absolute. */
  libraries?: string;
  /** Folders on the class path, absolute; a Gradle installation's libraries are below `installed`. */
  classes: string[];
  installed?: string;
}

const classPathFile = "fulcrum-classpath.txt";

/** What a row calls a target. */
export function javaName(target: JavaTarget): string {
  return target.mainClass.slice(target.mainClass.lastIndexOf(".") + 1);
}

export function isJavaProject(name: string): boolean {
  return /^(pom\.xml|build\.gradle(\.kts)?)$/.test(name);
}

/** The programs of all projects; those that the build names itself first. */
export function javaTargets(projects: readonly JavaProject[], sources: readonly JavaSource[]): JavaTarget[] {
  const mains = sources.flatMap(({ file, text }) => {
    const name = mainClassOf(file, text);
    return name === undefined ? [] : [{ file, name }];
  });
  return projects.flatMap((project) => {
    const folder = path.dirname(project.file);
    const own = path.join(folder, "src", "main", "java") + path.sep;
    const named = namedMainClass(project.text);
    const names = mains.filter(({ file }) => file.startsWith(own)).map(({ name }) => name);
    names.sort((a, b) => Number(b === named) - Number(a === named) || a.localeCompare(b));
    return names.map((mainClass) => targetOf(project, projects, mainClass));
  });
}

function targetOf(project: JavaProject, projects: readonly JavaProject[], mainClass: string): JavaTarget {
  const kind = isMaven(project) ? "maven" : "gradle";
  const around = projects.filter((it) => isMaven(it) === (kind === "maven") && isAround(it, project));
  const top = around.sort((a, b) => a.file.length - b.file.length)[0] ?? project;
  const libraries = kind === "maven" ? /<(dependencies|parent)>/ : /\bapplication\b/;
  return {
    kind,
    folder: path.dirname(project.file),
    top: path.dirname(top.file),
    mainClass,
    hasWrapper: top.hasWrapper,
    hasLibraries: libraries.test(project.text),
  };
}

/** Whether a project builds another one together with itself. */
function isAround(outer: JavaProject, inner: JavaProject): boolean {
  const isBelow = path.dirname(inner.file).startsWith(path.dirname(outer.file) + path.sep);
  // Gradle's settings name the modules; a build file without code of its own is at their top as well.
  return isBelow && (!isMaven(outer) || /<modules>/.test(outer.text));
}

function isMaven({ file }: JavaProject): boolean {
  return path.basename(file) === "pom.xml";
}

/** The class with its package when it can be started; comments and texts may fool this, and then the row is one too many. */
function mainClassOf(file: string, text: string): string | undefined {
  if (!/\bpublic\s+(?:final\s+)?static\s+(?:final\s+)?void\s+main\s*\(/.test(text)) {
    return undefined;
  }
  const [, packageName] = /^\s*package\s+([\w.]+)\s*;/m.exec(text) ?? [];
  const name = path.basename(file, ".java");
  return packageName === undefined ? name : `${packageName}.${name}`;
}

/** The class that a build file says is the program. */
function namedMainClass(text: string): string | undefined {
  const maven = /<(?:mainClass|start-class|exec\.mainClass)>\s*([\w.$]+)\s*</.exec(text);
  const gradle = /\bmainClass(?:Name)?(?:\.set\(|\s*=)\s*["']([\w.$]+)["']/.exec(text);
  return (maven ?? gradle)?.[1];
}

/** The commands that build a target, without its tests. */
export function javaCommands(target: JavaTarget): JavaCommands {
  return target.kind === "maven" ? mavenCommands(target) : gradleCommands(target);
}

function mavenCommands(target: JavaTarget): JavaCommands {
  const module = path.relative(target.top, target.folder);
  const words = [
    target.hasWrapper ? "./mvnw" : "mvn",
    "-B -DskipTests",
    ...(module === "" ? [] : [`-pl ${quoteShellWord(module)} -am`]),
    "package",
    ...(target.hasLibraries
      ? [`dependency:build-classpath -DincludeScope=runtime -Dmdep.outputFile=target/${classPathFile}`]
      : []),
  ];
  return {
    commands: [words.join(" ")],
    ...(target.hasLibraries && { libraries: path.join(target.folder, "target", classPathFile) }),
    classes: [path.join(target.folder, "target", "classes")],
  };
}

function gradleCommands(target: JavaTarget): JavaCommands {
  const module = path.relative(target.top, target.folder).split(path.sep).filter(Boolean);
  const task = [...module, target.hasLibraries ? "installDist" : "classes"].join(":");
  const wanted = module.length === 0 ? task : `:${task}`;
  const build = path.join(target.folder, "build");
  return {
    commands: [`${target.hasWrapper ? "./gradlew" : "gradle"} ${quoteShellWord(wanted)}`],
    ...(target.hasLibraries && { installed: path.join(build, "install") }),
    classes: target.hasLibraries
      ? []
      : [path.join(build, "classes", "java", "main"), path.join(build, "resources", "main")],
  };
}
