/**
 * A real VS Code from the npm registry: the server build inside the package `code-server`, on its own port and data folder.
 *
 *   const editor = await startEditor({ extensions: [unpackedFolder] });
 *   editor.url("/abs/workspace")  // open this in a browser
 *   await editor.stop();
 */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { root, run, StepError, step } from "./lib/steps.mjs";

const cache = path.join(root, ".vscode-test");

/** The editor that tests and `npm start` use, and the version of Node that it needs. */
export const editorVersion = "4.139.1";
const nodeMajor = 24;

/**
 * Downloads the editor into `.vscode-test/`, once (about 50 MB).
 * @returns {Promise<{ node: string, main: string }>} the Node binary and the server's main script
 */
export async function installEditor() {
  const folder = path.join(cache, `code-server-${editorVersion}`);
  const main = path.join(folder, "package", "lib", "vscode", "out", "server-main.js");
  if (!existsSync(path.join(folder, "complete"))) {
    await step(`VS Code (code-server ${editorVersion})`, () => downloadEditor(folder));
  }
  return { node: await installNode(), main };
}

async function downloadEditor(folder) {
  const partial = `${folder}.${process.pid}`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  const packed = await npm(
    ["pack", `code-server@${editorVersion}`, "--silent", "--pack-destination", partial],
    partial,
  );
  const archive = path.join(partial, packed.trim().split("\n").at(-1) ?? "");
  await install("tar", ["-xzf", archive, "-C", partial], partial);
  await npm(
    ["install", "--omit=dev", "--ignore-scripts", "--force", "--silent", "--no-audit", "--no-fund"],
    path.join(partial, "package", "lib", "vscode"),
  );
  rmSync(archive);
  writeFileSync(path.join(partial, "complete"), "");
  rmSync(folder, { recursive: true, force: true });
  renameSync(partial, folder);
}

/**
 * What `startEditor` is given.
 * @typedef {object} EditorOptions
 * @property {string[]} extensions unpacked extension folders, each with a package.json
 * @property {string} [userDataDir] kept after stop(); by default a new temporary folder, removed by stop()
 * @property {Record<string, unknown>} [settings]
 * @property {boolean} [trust] false: workspaces start untrusted
 * @property {Record<string, string | undefined>} [env]
 * @property {(line: string) => void} [log]
 */

/**
 * Starts the editor and waits until it answers. `stop` ends its whole process group.
 * @param {EditorOptions} options
 * @returns {Promise<{ url: (folder?: string, file?: string) => string, port: number, pid: number, stop: () => Promise<void> }>}
 */
export async function startEditor({
  extensions,
  userDataDir,
  settings,
  trust = true,
  env = {},
  log = () => undefined,
}) {
  const { node, main } = await installEditor();
  const data = userDataDir ?? mkdtempSync(path.join(tmpdir(), "fulcrum-editor-"));
  const extensionsDir = path.join(data, "extensions");
  rmSync(extensionsDir, { recursive: true, force: true });
  mkdirSync(extensionsDir, { recursive: true });
  for (const extension of extensions) {
    const { publisher, name, version } = JSON.parse(readFileSync(path.join(extension, "package.json"), "utf8"));
    cpSync(extension, path.join(extensionsDir, `${publisher}.${name}-${version}`), {
      recursive: true,
      dereference: true,
    });
  }
  if (settings !== undefined) {
    for (const scope of ["User", "Machine"]) {
      mkdirSync(path.join(data, "data", scope), { recursive: true });
      writeFileSync(path.join(data, "data", scope, "settings.json"), JSON.stringify(settings, null, 2));
    }
  }
  const port = await freePort();
  const child = spawn(
    node,
    [
      ...[main, "--host", "127.0.0.1", "--port", String(port), "--without-connection-token"],
      ...["--accept-server-license-terms", "--server-data-dir", data, "--extensions-dir", extensionsDir],
      ...(trust ? ["--disable-workspace-trust"] : []),
      "--disable-telemetry",
    ],
    { detached: true, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } },
  );
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdout.on("data", (chunk) => log(String(chunk).trimEnd()));
  child.stderr.on("data", (chunk) => log(String(chunk).trimEnd()));
  const stop = async () => {
    signalGroup(child.pid, "SIGTERM");
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000))]);
    signalGroup(child.pid, "SIGKILL");
    if (userDataDir === undefined) {
      rmSync(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  };
  process.once("exit", () => signalGroup(child.pid, "SIGKILL"));
  try {
    await answers(`http://127.0.0.1:${port}/version`, child);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = (folder, file) => {
    const page = new URL(`http://127.0.0.1:${port}/`);
    // Without a folder, the editor would open the last one.
    page.searchParams.set(folder === undefined ? "ew" : "folder", folder ?? "true");
    if (file !== undefined) {
      const remote = `vscode-remote://127.0.0.1:${port}${encodeURI(file)}`;
      page.searchParams.set("payload", JSON.stringify([["openFile", remote]]));
    }
    return page.href;
  };
  return { url, port, pid: child.pid ?? 0, stop };
}

/** Node 24: the running one if it is new enough, or else one from the registry. */
async function installNode() {
  if (Number(process.versions.node.split(".")[0]) >= nodeMajor) {
    return process.execPath;
  }
  const name = `node-linux-${process.arch}`;
  const folder = path.join(cache, `node-${nodeMajor}`);
  const binary = path.join(folder, "node_modules", name, "bin", "node");
  if (!existsSync(binary)) {
    await step(`Node ${nodeMajor} for the editor`, async () => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, "package.json"), '{ "private": true }\n');
      await npm(["install", `${name}@${nodeMajor}`, "--silent", "--no-audit", "--no-fund", "--no-save"], folder);
    });
  }
  return binary;
}

function npm(args, cwd) {
  return install("npm", args, cwd);
}

/** Returns the program's output. */
async function install(command, args, cwd) {
  try {
    const { stdout } = await run(command, args, { cwd });
    return stdout;
  } catch (error) {
    throw new StepError(`${error.message}\nThe editor could not be installed: check the network and try again.`);
  }
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has already ended.
  }
}

async function answers(address, child) {
  const deadline = Date.now() + 120_000;
  for (;;) {
    if (child.exitCode !== null) {
      throw new Error(
        `The editor ended with exit code ${child.exitCode} while it started. Remove .vscode-test and try again.`,
      );
    }
    try {
      if ((await fetch(address)).ok) {
        return;
      }
    } catch {
      // Not listening yet.
    }
    if (Date.now() > deadline) {
      throw new Error(`The editor did not answer at ${address} within two minutes.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
