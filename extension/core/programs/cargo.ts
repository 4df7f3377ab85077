/**
 * What a Cargo.toml says, as far as programs and dependencies go.
 *
 * Read line by line, because a dependency is also added without touching the rest of the file. `smol-toml` 1.9 (no dependencies)
 * returns values without their positions, and can only rewrite the whole file, without its comments.
 */

export interface CargoTarget {
  name: string;
  example: boolean;
}

/**
 * The programs of a package.
 *
 * @param files the package's source files, relative to its folder, with `/` between their parts
 */
export function cargoTargets(manifest: string, files: readonly string[]): CargoTarget[] {
  const sections = tomlSections(manifest);
  const name = entryOf(sections, "package", "name");
  if (name === undefined) {
    return [];
  }
  const declared = sections
    .filter((section) => section.name === "bin")
    .flatMap(({ values }) => values.get("name") ?? []);
  const hasAuto = entryOf(sections, "package", "autobins") !== "false";
  const found = hasAuto ? autobins(name, files) : [];
  const examples = files.flatMap((file) => /^examples\/([^/]+?)(?:\.rs|\/main\.rs)$/.exec(file)?.[1] ?? []);
  return [
    ...[...new Set([...declared, ...found])].map((it) => ({ name: it, example: false })),
    ...examples.map((it) => ({ name: it, example: true })),
  ];
}

function autobins(name: string, files: readonly string[]): string[] {
  const main = files.includes("src/main.rs") ? [name] : [];
  return [...main, ...files.flatMap((file) => /^src\/bin\/([^/]+?)(?:\.rs|\/main\.rs)$/.exec(file)?.[1] ?? [])];
}

/** Whether it is at the top of a workspace. */
export function isCargoWorkspace(manifest: string): boolean {
  return tomlSections(manifest).some(({ name }) => name === "workspace" || name.startsWith("workspace."));
}

/** Whether it is a package, not only a workspace. */
export function isCargoPackage(manifest: string): boolean {
  return entryOf(tomlSections(manifest), "package", "name") !== undefined;
}

/** Whether a package depends on a crate, in any way of writing it. */
export function dependsOn(manifest: string, crate: string): boolean {
  return tomlSections(manifest).some(
    ({ name, values }) =>
      (/(^|\.)dependencies$/.test(name) && (values.has(crate) || values.has(`${crate}.workspace`))) ||
      name.endsWith(`dependencies.${crate}`),
  );
}

/** The manifest with a dependency on a crate in a folder; every other line is as it was. */
export function withPathDependency(manifest: string, crate: string, folder: string): string {
  const newline = manifest.includes("\r\n") ? "\r\n" : "\n";
  const line = `${crate} = { path = "${folder.replaceAll("\\", "/")}" }`;
  const lines = manifest.split(/\r?\n/);
  const at = lines.findIndex((text) => /^\s*\[\s*dependencies\s*\]\s*(#.*)?$/.test(text));
  if (at < 0) {
    const body = manifest.replace(/\s+$/, "");
    return `${body}${newline}${newline}[dependencies]${newline}${line}${newline}`;
  }
  // After the last line of the section that says something.
  let end = at;
  for (let next = at + 1; next < lines.length && !/^\s*\[/.test(lines[next] ?? ""); next += 1) {
    if ((lines[next] ?? "").trim() !== "") {
      end = next;
    }
  }
  return [...lines.slice(0, end + 1), line, ...lines.slice(end + 1)].join(newline);
}

interface Section {
  name: string;
  values: Map<string, string>;
}

function tomlSections(text: string): Section[] {
  let section: Section = { name: "", values: new Map() };
  const all = [section];
  for (const line of text.split(/\r?\n/)) {
    const heading = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$/.exec(line);
    const entry = /^\s*([\w."-]+)\s*=\s*(.+?)\s*$/.exec(line);
    if (heading !== null) {
      section = { name: (heading[1] as string).replaceAll('"', ""), values: new Map() };
      all.push(section);
    } else if (entry !== null) {
      section.values.set((entry[1] as string).replaceAll('"', ""), plain(entry[2] as string));
    }
  }
  return all;
}

function plain(value: string): string {
  const quoted = /^(?:"([^"]*)"|'([^']*)')/.exec(value);
  return quoted?.[1] ?? quoted?.[2] ?? value.replace(/\s*#.*$/, "");
}

function entryOf(sections: readonly Section[], section: string, key: string): string | undefined {
  return sections.find(({ name }) => name === section)?.values.get(key);
}
