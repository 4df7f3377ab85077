/** Where the compiler finds `fulcrum.h`: the folders that it looks into, and the ways to add one to a build. */
import * as path from "node:path";
import { splitShellWords } from "../text/shellWords";

/** What an include flag of a build file is added to. */
export type BuildFile = "CMakeLists.txt" | "Makefile" | "compile_flags.txt" | "build.rs";

/** Folders of include flags in a command line or in `compile_flags.txt`, absolute. */
export function includeFolders(words: readonly string[], base: string): string[] {
  const folders: string[] = [];
  words.forEach((word, at) => {
    const match = /^(?:-I|-iquote|-isystem)(.*)$/.exec(word);
    const folder = match?.[1] === "" ? words[at + 1] : match?.[1];
    if (folder !== undefined && folder !== "") {
      folders.push(path.resolve(base, folder.replace(/^=/, "")));
    }
  });
  return folders;
}

/** The include folders of a file by a `compile_commands.json`, absolute; none when it does not know the file. */
export function foldersOfCommands(text: string, file: string): string[] {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    return [];
  }
  const commands = (Array.isArray(entries) ? entries : []) as Record<string, unknown>[];
  for (const entry of commands) {
    const directory = typeof entry.directory === "string" ? entry.directory : "/";
    if (typeof entry.file !== "string" || path.resolve(directory, entry.file) !== file) {
      continue;
    }
    const words = Array.isArray(entry.arguments) ? entry.arguments.filter((it) => typeof it === "string") : [];
    const command = typeof entry.command === "string" ? splitShellWords(entry.command) : words;
    return includeFolders(command, directory);
  }
  return [];
}

/**
 * A build file with a folder among those that are searched for headers. `undefined` when it has no place for that.
 *
 * @param folder relative to the build file's folder
 */
export function withIncludeFolder(kind: BuildFile, text: string, folder: string, language: string): string | undefined {
  switch (kind) {
    case "CMakeLists.txt":
      return cmakeWith(text, folder);
    case "Makefile":
      return makefileWith(text, folder, language);
    case "compile_flags.txt":
      return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}-I${folder}\n`;
    case "build.rs":
      return buildScriptWith(text, folder);
  }
}

/** After `project(…)`, before any target is made. */
function cmakeWith(text: string, folder: string): string | undefined {
  const line = `include_directories("\${CMAKE_CURRENT_SOURCE_DIR}/${folder}")`;
  const plain = text.replace(/#.*$/gm, (comment) => " ".repeat(comment.length));
  const project = /^[ \t]*project\s*\([^)]*\)[^\n]*(\n|$)/im.exec(plain);
  if (project === null) {
    return undefined;
  }
  const at = project.index + project[0].length;
  const lead = text.slice(0, at).endsWith("\n") ? "" : "\n";
  return `${text.slice(0, at)}${lead}${line}\n${text.slice(at)}`;
}

/** To the variable that the rules use, after its last assignment. */
function makefileWith(text: string, folder: string, language: string): string {
  const own = language === "c" ? "CFLAGS" : "CXXFLAGS";
  const used = ["CPPFLAGS", own, "CFLAGS"].find((name) => new RegExp(`\\$[({]${name}[)}]`).test(text));
  const name = used ?? "CPPFLAGS";
  const lines = text.split("\n");
  let at = lines.findLastIndex((line) => new RegExp(`^${name}\\s*[:?+!]?=`).test(line));
  while (at >= 0 && lines[at]?.endsWith("\\") === true) {
    at += 1;
  }
  return [...lines.slice(0, at + 1), `${name} += -I${folder}`, ...lines.slice(at + 1)].join("\n");
}

/** In the call that compiles C or C++ in a build script: `cc::Build::new()`. */
function buildScriptWith(text: string, folder: string): string | undefined {
  const build = /\b(?:cc::)?Build::new\(\)/.exec(text);
  if (build === null) {
    return undefined;
  }
  const at = build.index + build[0].length;
  return `${text.slice(0, at)}.include("${folder}")${text.slice(at)}`;
}
