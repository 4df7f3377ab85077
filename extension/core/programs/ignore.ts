/** Which folders are searched for programs: rules of `.gitignore` files, and folders that tools fill. */

export interface IgnoreRule {
  matches: RegExp;
  /** `!pattern`: what an earlier rule ignored is not. */
  keeps: boolean;
}

/** The rules of one `.gitignore`, for paths relative to its folder, with `/` between their parts. */
export function parseIgnore(text: string): IgnoreRule[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/(?<!\\)\s+$/, ""))
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(ruleOf);
}

function ruleOf(line: string): IgnoreRule {
  const keeps = line.startsWith("!");
  const pattern = (keeps ? line.slice(1) : line).replace(/^\\([#!])/, "$1").replace(/\/+$/, "");
  const anchored = pattern.includes("/");
  const source = globSource(pattern.replace(/^\//, ""));
  return { matches: new RegExp(anchored ? `^${source}$` : `(^|/)${source}$`), keeps };
}

/** A pattern's regular expression: `*` and `?` stay within a folder, `**` does not. */
function globSource(pattern: string): string {
  return pattern.replace(/\*\*\/|\/\*\*|\*\*|\*|\?|\[[^\]]+\]|\\.|[^*?[\\]+|[[\\]/g, (part) => {
    switch (part) {
      case "**/":
        return "(.*/)?";
      case "/**":
        return "/.*";
      case "**":
        return ".*";
      case "*":
        return "[^/]*";
      case "?":
        return "[^/]";
      default:
        if (part.startsWith("[") && part.length > 2) {
          return part.replace(/^\[!/, "[^");
        }
        return escaped(part.length === 2 && part.startsWith("\\") ? part.slice(1) : part);
    }
  });
}

function escaped(text: string): string {
  return text.replace(/[.+^${}()|[\]\\*?]/g, "\\$&");
}

/** Whether rules ignore a folder: the last one that matches says so. */
export function isIgnored(rules: readonly IgnoreRule[], folder: string): boolean {
  const last = rules.filter((rule) => rule.matches.test(folder)).at(-1);
  return last !== undefined && !last.keeps;
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
