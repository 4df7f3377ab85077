/** Which folders are searched for programs: rules of `.gitignore` files, and folders that tools fill. */
import ignore, { type Ignore } from "ignore";

/** The rules of one `.gitignore`, for paths relative to its folder. */
export interface IgnoreRules {
  /** Absolute. */
  base: string;
  rules: Ignore;
}

/** `undefined` for a file without rules. */
export function parseIgnore(base: string, text: string): IgnoreRules | undefined {
  const rules = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return rules.length === 0 ? undefined : { base, rules: ignore({ ignorecase: false }).add(rules) };
}

/**
 * Whether rules ignore a folder, if they ignore none around it: those of the innermost file that knows it decide.
 *
 * @param files outermost first
 * @param relative the path of the folder, relative to a file's base, with `/` between its parts
 */
export function isIgnored(files: readonly IgnoreRules[], relative: (base: string) => string): boolean {
  for (const { base, rules } of files.toReversed()) {
    const { ignored, unignored } = rules.test(`${relative(base)}/`);
    if (ignored || unignored) {
      return ignored;
    }
  }
  return false;
}

/** Build folders, which most projects tell git to ignore. */
const buildFolder =
  /^(\.?build|builds|bin|out|target|dist|builddir|_build|cmake-build-.*|build[-_.].*|debug|release)$/i;
/** Never the place of a program of one's own. */
const foreign = new Set([
  ...["node_modules", ".git", ".hg", ".svn", ".fulcrum", ".vscode-test", ".venv", "venv", "__pycache__", ".tox"],
  ...["CMakeFiles", "_deps", ".cache", ".ccls-cache", ".idea", ".gradle", ".direnv"],
]);
/** What cargo keeps beside the programs that it builds. */
const ofCargo = new Set(["deps", "build", "incremental", ".fingerprint", "doc", "package", "tmp", ".cargo-lock"]);

/**
 * Whether a folder is searched.
 *
 * @param folder its path relative to the root of the search, with `/` between its parts
 * @param ignored what {@link isIgnored} says of it, or of a folder around it
 */
export function isSearched(folder: string, ignored: boolean): boolean {
  const parts = folder.split("/");
  const name = parts.at(-1) ?? "";
  if (foreign.has(name) || (parts.slice(0, -1).includes("target") && ofCargo.has(name))) {
    return false;
  }
  return !ignored || parts.some((part) => buildFolder.test(part));
}

/** Names of files that are no programs: these files are not opened. */
export function mayBeProgram(name: string): boolean {
  if (name.startsWith(".") || /^(Makefile|GNUmakefile|LICENSE|COPYING|README|CHANGELOG)$/i.test(name)) {
    return false;
  }
  return /^[^.]+$|\.(out|exe|bin|elf|app|x86_64|amd64|run)$|-\d+(\.\d+)*$/i.test(name);
}
