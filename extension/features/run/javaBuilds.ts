/** Builds a Java program with Maven or Gradle before it is traced, and finds out how it is started. */
import { readdir } from "node:fs/promises";
import * as path from "node:path";
import { type JavaTarget, javaCommands, javaName } from "../../core/programs/java";
import * as messages from "../editor/messages";
import { buildInTerminal } from "./builds";
import { programFacts, textOf } from "./programs";

/** The arguments of `java` up to the class; `undefined` after a failure, which a message has reported. */
export async function buildJava(target: JavaTarget): Promise<string[] | undefined> {
  const { commands, libraries, classes, installed } = javaCommands(target);
  const name = javaName(target);
  const again = { label: "Record Again…", command: "fulcrum.trace.record" };
  if (!(await buildInTerminal({ name, commands, folder: target.top, matchers: [], again }))) {
    return undefined;
  }
  const folders = [...classes, ...(installed === undefined ? [] : await libraryFolders(installed))];
  const first = folders[0]?.replace(/\/\*$/, "");
  if (first === undefined || !(await programFacts(first)).exists) {
    const where = first ?? installed ?? target.folder;
    await messages.warn(
      `${name} was built, but there is nothing at ${where}. Type the command that starts it instead.`,
    );
    return undefined;
  }
  const listed = libraries === undefined ? "" : (await textOf(libraries)).trim();
  const classPath = [...folders, ...(listed === "" ? [] : [listed])].join(path.delimiter);
  return ["-cp", classPath, target.mainClass];
}

/** Of each program that Gradle installed. */
async function libraryFolders(installed: string): Promise<string[]> {
  try {
    return (await readdir(installed)).map((name) => path.join(installed, name, "lib", "*"));
  } catch {
    return [];
  }
}
