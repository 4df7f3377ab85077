/**
 * The programs that a CMakeLists.txt makes.
 *
 * By hand, because CMake's file API would be exact, but CMake must first configure the project, which the user did not ask for.
 */

/** Names of executables, in the order of the file. Names that depend on more than plain variables are left out. */
export function cmakePrograms(text: string): string[] {
  const variables = new Map<string, string>();
  const programs: string[] = [];
  for (const { command, words } of cmakeCommandsOf(text)) {
    const [name, second] = words.map((word) => expanded(word, variables));
    if (name === undefined) {
      continue;
    }
    if (command === "project") {
      variables.set("PROJECT_NAME", name);
      variables.set("CMAKE_PROJECT_NAME", name);
    } else if (command === "set" && second !== undefined) {
      variables.set(name, second);
    } else if (command === "add_executable" && second !== "IMPORTED" && second !== "ALIAS" && !name.includes("$")) {
      programs.push(name);
    }
  }
  return [...new Set(programs)];
}

/** Whether this file is at the top of a project. */
export function isCMakeProject(text: string): boolean {
  return cmakeCommandsOf(text).some(({ command }) => command === "project");
}

function cmakeCommandsOf(text: string): { command: string; words: string[] }[] {
  const plain = text.replace(/#\[\[[\s\S]*?\]\]/g, "").replace(/#.*$/gm, "");
  return [...plain.matchAll(/(\w+)\s*\(([^()]*)\)/g)].map(([, command, inside]) => ({
    command: (command as string).toLowerCase(),
    words: [...(inside as string).matchAll(/"((?:[^"\\]|\\.)*)"|[^\s"]+/g)].map((word) => word[1] ?? word[0]),
  }));
}

function expanded(word: string, variables: ReadonlyMap<string, string>): string {
  return word.replace(/\$\{(\w+)\}/g, (whole, name) => variables.get(name) ?? whole);
}
