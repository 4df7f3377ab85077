/**
 * What a program with a progress point is built with: `fulcrum.h` where the compiler finds it, the crate for Rust. After an
 * insertion the build works as it is.
 */
import { access, copyFile, cp, mkdir, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { type BuildFile, foldersOfCommands, includeFolders, withIncludeFolder } from "../../core/causal/headers";
import { dependsOn, isCargoPackage, isCargoWorkspace, withPathDependency } from "../../core/programs/cargo";
import { splitShellWords } from "../../core/text/shellWords";
import { folderOf } from "../editor/folders";
import * as messages from "../editor/messages";
import { textOf } from "../run/programs";

const header = "fulcrum.h";
const crate = "fulcrum-progress";

/** What comes with the extension, or is in the developer's tree. */
export interface Shipped {
  /** The folder with `fulcrum.h`. */
  include: string;
}

/** `undefined` in a build that has no header. */
export async function shipped(context: vscode.ExtensionContext): Promise<Shipped | undefined> {
  for (const folder of ["bin/include", "engine/include"].map((folder) => context.asAbsolutePath(folder))) {
    if (await exists(path.join(folder, header))) {
      return { include: folder };
    }
  }
  return undefined;
}

/** Makes a document with a progress point build. Says what was written, once, where it was. */
export async function prepareBuild(document: vscode.TextDocument, from: Shipped): Promise<void> {
  if (document.languageId === "rust") {
    await prepareCargo(document.uri.fsPath, from);
  } else if (/#\s*include\s*["<]fulcrum\.h[">]/.test(document.getText())) {
    await prepareHeader(document.uri.fsPath, document.languageId, from);
  }
}

async function prepareHeader(file: string, language: string, from: Shipped): Promise<void> {
  const folder = path.dirname(file);
  const places = [folder, ...(await knownIncludeFolders(file))];
  if ((await Promise.all(places.map((place) => exists(path.join(place, header))))).includes(true)) {
    return;
  }
  const copy = path.join(folder, header);
  await copyFile(path.join(from.include, header), copy);
  void offerFlag(file, language, copy, from);
}

/** Some keep headers elsewhere. */
async function offerFlag(file: string, language: string, copy: string, from: Shipped): Promise<void> {
  const flag = "Use an Include Flag Instead…";
  const name = path.basename(file);
  if ((await offerRun(`fulcrum.h was put beside ${name}, so that it compiles.`, flag)) === flag) {
    await chooseFlag(file, language, copy, from);
  }
}

/** The next step is to run the program; its targets are built first. */
async function offerRun(message: string, ...others: string[]): Promise<string | undefined> {
  const run = "Run Causal Profiler…";
  const choice = await messages.info(message, run, ...others);
  if (choice === run) {
    await vscode.commands.executeCommand("fulcrum.causal.run");
  }
  return choice;
}

/** The folders that the build of a file says it looks into. */
async function knownIncludeFolders(file: string): Promise<string[]> {
  const around = foldersAround(file);
  const folders: string[] = [];
  for (const folder of around) {
    const flags = await textOf(path.join(folder, "compile_flags.txt"));
    folders.push(...includeFolders(words(flags), folder));
    for (const place of [folder, path.join(folder, "build")]) {
      folders.push(...foldersOfCommands(await textOf(path.join(place, "compile_commands.json")), file));
    }
    // What this extension has added itself.
    const own = path.join(folder, ".fulcrum", "include");
    const texts = await Promise.all(buildFiles.map((name) => textOf(path.join(folder, name))));
    if (texts.some((text) => text.includes(".fulcrum/include"))) {
      folders.push(own);
    }
  }
  return folders;
}

const buildFiles: readonly BuildFile[] = ["CMakeLists.txt", "Makefile", "compile_flags.txt", "build.rs"];

interface FlagItem extends vscode.QuickPickItem {
  file?: string;
  build?: BuildFile;
}

/** Adds the folder of the header to a build file, and takes the copy beside the source away. */
async function chooseFlag(source: string, language: string, copy: string, from: Shipped): Promise<void> {
  const root = folderOf(source) ?? path.dirname(source);
  const items: FlagItem[] = [];
  for (const folder of foldersAround(source)) {
    for (const kind of buildFiles) {
      const file = path.join(folder, kind);
      if (await exists(file)) {
        items.push({ label: path.relative(root, file) || kind, file, build: kind, description: purpose(kind) });
      }
    }
  }
  items.push({ label: "$(copy) Copy the flag", description: "to paste it into your build" });
  const picked = await vscode.window.showQuickPick(items, {
    title: "How Does Your Build Find fulcrum.h?",
    placeHolder: "Choose the build file to add the include folder to",
  });
  if (picked === undefined) {
    return;
  }
  const include = path.join(root, ".fulcrum", "include");
  await mkdir(include, { recursive: true });
  await copyFile(path.join(from.include, header), path.join(include, header));
  if (picked.file === undefined || picked.build === undefined) {
    await vscode.env.clipboard.writeText(`-I${include}`);
    messages.showStatus(`Copied -I${include}`);
    return;
  }
  const relative = path.relative(path.dirname(picked.file), include).split(path.sep).join("/");
  const before = await textOf(picked.file);
  const after = withIncludeFolder(picked.build, before, relative, language);
  if (after === undefined) {
    await messages.warn(
      `${picked.label} has no recognizable place for an include folder, so it was not changed. fulcrum.h stays beside the source file.`,
    );
    return;
  }
  if (await rewrite(picked.file, before, after)) {
    await rm(copy, { force: true });
    await vscode.window.showTextDocument(vscode.Uri.file(picked.file), { preview: true });
  }
}

function purpose(kind: BuildFile): string {
  switch (kind) {
    case "CMakeLists.txt":
      return "include_directories";
    case "Makefile":
      return "a flag of the compiler";
    case "compile_flags.txt":
      return "for clangd; compilers do not read it";
    case "build.rs":
      return "cc::Build";
  }
}

async function prepareCargo(file: string, from: Shipped): Promise<void> {
  const around = foldersAround(file);
  const manifests = await Promise.all(
    around.map(async (folder) => ({ folder, text: await textOf(path.join(folder, "Cargo.toml")) })),
  );
  const own = manifests.find(({ text }) => isCargoPackage(text));
  if (own === undefined) {
    void messages.warn(
      `There is no Cargo.toml for ${path.basename(file)}, so the crate ${crate} could not be added. It is in ${path.join(from.include, crate)}.`,
    );
    return;
  }
  if (dependsOn(own.text, crate)) {
    return;
  }
  const top = manifests.filter(({ text }) => isCargoWorkspace(text)).at(-1) ?? own;
  const place = path.join(top.folder, crate);
  if (!(await exists(path.join(place, "Cargo.toml")))) {
    await placeCrate(place, from);
  }
  const relative = path.relative(own.folder, place).split(path.sep).join("/");
  const manifest = path.join(own.folder, "Cargo.toml");
  if (await rewrite(manifest, own.text, withPathDependency(own.text, crate, relative))) {
    void offerRun(`The crate ${crate} was put beside Cargo.toml and added to its dependencies. It builds offline.`);
  }
}

async function placeCrate(place: string, from: Shipped): Promise<void> {
  const packed = path.join(from.include, crate);
  if (await exists(packed)) {
    await cp(packed, place, { recursive: true });
    return;
  }
  // The developer's tree.
  await cp(path.resolve(from.include, "../crates/progress/src"), path.join(place, "src"), { recursive: true });
  await copyFile(path.join(from.include, "fulcrum-progress.toml"), path.join(place, "Cargo.toml"));
}

/** Through the editor where the file is open with changes, so that nothing of them is lost. */
async function rewrite(file: string, before: string, after: string): Promise<boolean> {
  const open = vscode.workspace.textDocuments.find(({ uri, isDirty }) => isDirty && uri.fsPath === file);
  if (open === undefined) {
    await writeFile(file, after);
    return true;
  }
  if (open.getText() !== before) {
    await messages.warn(`${path.basename(file)} has unsaved changes, so it was not changed. Save it, and try again.`);
    return false;
  }
  const edit = new vscode.WorkspaceEdit();
  const whole = new vscode.Range(0, 0, open.lineCount, 0);
  edit.replace(open.uri, whole, after);
  return (await vscode.workspace.applyEdit(edit)) && open.save();
}

/** The folders from a file's own up to the workspace's; without a workspace up to the first one with `.git`, or all. */
function foldersAround(file: string): string[] {
  const root = folderOf(file);
  const folders: string[] = [];
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    folders.push(folder);
    if (folder === root || folder === path.dirname(folder)) {
      return folders;
    }
  }
}

function words(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    try {
      return splitShellWords(line);
    } catch {
      return [];
    }
  });
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
