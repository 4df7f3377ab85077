/** Recordings out of repositories: of folders that the user has, or cloned. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inflateSync } from "node:zlib";
import { root, run, StepError, tryRun, which } from "../../lib/steps.mjs";

const kept = path.join(root, "out", "bench", "corpora");

/**
 * The git directory of a corpus: below `from`, as `owner+name/repo`, `owner/name` or `name`, with a work tree or bare;
 * without `from`, a clone of its newest state.
 * @param {import("./catalogue.mjs").Corpus} corpus
 * @param {string | undefined} from
 */
export async function repositoryOf(corpus, from) {
  const [owner, name] = corpus.repository.split("/");
  if (from !== undefined) {
    const places = [`${owner}+${name}/repo`, `${owner}+${name}`, corpus.repository, name, corpus.name];
    const all = places.flatMap((place) => [path.join(from, place, ".git"), path.join(from, place)]);
    const found = all.find((folder) => existsSync(path.join(folder, "HEAD")));
    if (found === undefined) {
      throw new StepError(`${from} has no repository ${name}: clone ${corpus.repository} from GitHub into it.`);
    }
    return found;
  }
  const folder = path.join(kept, "repositories", name);
  if (!existsSync(folder)) {
    await clone(corpus, folder);
  }
  return folder;
}

async function clone({ repository, revision }, folder) {
  if (which("git") === undefined) {
    throw new StepError("git is needed to fetch the corpora: install it, or give them with --from FOLDER.");
  }
  const url = `https://github.com/${repository}.git`;
  const shallow = ["--depth", "1", "--quiet", url];
  let { code, output } = await tryRun("git", ["clone", "--bare", ...shallow, folder]);
  if (code === 0 && revision !== undefined) {
    ({ code, output } = await tryRun("git", ["--git-dir", folder, "fetch", ...shallow, revision]));
  }
  if (code !== 0) {
    throw new StepError(
      `${output.trim()}\nThe corpora cannot be fetched: clone ${repository} where there is a network, and give the folder that holds it with --from FOLDER.`,
    );
  }
}

/**
 * What the newest commit, or the one that is wanted, has below the corpus's folders.
 * @returns {Promise<{ revision: string, files: { path: string, object: string }[] }>}
 */
export async function listFiles(corpus, repository) {
  const git = (...args) => tryRun("git", ["--git-dir", repository, ...args]);
  const commit = corpus.revision ?? "HEAD";
  const revision = (await git("rev-parse", "--short", commit)).stdout.trim();
  const { code, output, stdout } = await git("ls-tree", "-r", "-z", commit, ...corpus.folders);
  if (code !== 0) {
    throw new StepError(`${output.trim()}\n${repository} is no repository of ${corpus.name}.`);
  }
  const files = stdout
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => {
      const [, kind, object, file] = /^\d+ (\w+) (\w+)\t(.*)$/s.exec(line);
      return { kind, object, path: file };
    })
    .filter(({ kind, path: file }) => kind === "blob" && corpus.files.test(file) && !corpus.leave?.test(file));
  return { revision, files };
}

/**
 * The recordings in a file of the repository, each a file that can be opened. Undefined when the copy of the repository does not
 * have its content.
 * @returns {Promise<{ path: string, file: string, recording?: string, format?: string }[] | undefined>}
 */
export async function unpack(corpus, repository, file) {
  const extracted = await extract(corpus, repository, file);
  if (extracted === undefined) {
    return undefined;
  }
  const unpacked = (await corpus.unpack?.(extracted)) ?? [{ name: undefined, file: extracted }];
  return unpacked.map(({ name, ...read }) => ({
    ...read,
    path: name === undefined ? file.path : `${file.path}/${name}`,
  }));
}

/**
 * Writes a file of the repository where it can be opened, without the wrapping of Qt's `qCompress`, which only
 * perfparser's tests have. Undefined when the copy of the repository does not have its content.
 */
async function extract(corpus, repository, { path: file, object }) {
  const to = path.join(kept, "files", corpus.name, file.replace(/\.zlib$/, ""));
  if (existsSync(`${to}.${object}`)) {
    return to;
  }
  const content = await blob(repository, object);
  if (content === undefined) {
    return undefined;
  }
  mkdirSync(path.dirname(to), { recursive: true });
  // The length stands before the data.
  writeFileSync(to, file.endsWith(".zlib") ? inflateSync(content.subarray(4)) : content);
  writeFileSync(`${to}.${object}`, "");
  return to;
}

/** Writes these folders of a state of the repository, the newest unless another is wanted, into a new folder. */
export async function checkOut(repository, folders, to, commit = "HEAD") {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const tree = ["--git-dir", repository, "--work-tree", to];
  // An index of its own: the repository may be somebody's.
  const env = { GIT_INDEX_FILE: path.join(to, ".index") };
  await run("git", [...tree, "checkout", commit, "--", ...folders], { env });
  return to;
}

/** A text of the repository, such as what another tool made of a recording; undefined when there is none. */
export async function textOf(repository, file) {
  const { code, stdout } = await tryRun("git", ["--git-dir", repository, "cat-file", "blob", `HEAD:${file}`]);
  return code === 0 ? stdout : undefined;
}

function blob(repository, object) {
  return new Promise((resolve, reject) => {
    const child = spawn("git", ["--git-dir", repository, "cat-file", "blob", object], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const parts = [];
    child.stdout.on("data", (part) => parts.push(part));
    child.on("error", reject);
    child.on("close", (code) => resolve(code === 0 ? Buffer.concat(parts) : undefined));
  });
}
