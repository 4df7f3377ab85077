/**
 * `npm start`: from a clean clone to the sample's causal profile in an editor.
 *
 * The first time, it prints the table before it compiles the rest of the engine. `--no-editor`, or FULCRUM_NO_EDITOR=1, stops
 * when everything is built.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { bootstrap, bootstrapCausal } from "./bootstrap.mjs";
import { startEditor } from "./editor.mjs";
import { engine, main, root, run, StepError, step, tryRun, which } from "./lib/steps.mjs";
import { packageExtension, unpackExtension } from "./package.mjs";

const sample = path.join(root, "samples", "two-threads");
const source = path.join(sample, "two-threads.cpp");
const program = path.join(sample, "build", "two-threads");

async function buildSample() {
  await step("sample: two-threads", async () => {
    mkdirSync(path.dirname(program), { recursive: true });
    const flags = ["-O1", "-g", "-pthread", "-I", path.join(engine, "include")];
    await run("g++", [...flags, source, "-o", program]);
  });
}

/** Profiles the sample. The progress line and the table are the engine's. */
async function profileSample(fulcrum) {
  console.log("\nProfiling two-threads until the answer is stable, for at most 60 s …");
  const limits = ["--until", "1.5%", "--duration", "60", "--workspace", sample];
  const code = await foreground(fulcrum, ["run", ...limits, "--", program]);
  if (code !== 0) {
    throw new StepError(`Profiling the sample ended with exit code ${code}.`);
  }
}

/** Runs a program on this terminal. The program handles Ctrl-C. */
function foreground(command, args) {
  const ignore = () => undefined;
  process.on("SIGINT", ignore);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code) => {
      process.off("SIGINT", ignore);
      resolve(code ?? 1);
    });
  });
}

/** Opens the sample in the desktop editor. Returns false if none starts. */
async function openDesktop(vsix) {
  if (which("code") === undefined) {
    return false;
  }
  const installed = await tryRun("code", ["--install-extension", vsix, "--force"]);
  if (installed.code !== 0) {
    return false;
  }
  const opened = await tryRun("code", [sample, "--goto", source]);
  if (opened.code === 0) {
    console.log("\nVS Code is open on samples/two-threads.");
  }
  return opened.code === 0;
}

/** Serves the editor until Ctrl-C. */
async function openServer() {
  const data = path.join(root, ".vscode-test", "start");
  const first = !existsSync(path.join(data, "data", "Machine", "settings.json"));
  const settings = {
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "editor.minimap.enabled": false,
    "chat.disableAIFeatures": true,
    "git.openRepositoryInParentFolders": "never",
    "telemetry.telemetryLevel": "off",
  };
  const editor = await startEditor({
    extensions: [unpackExtension(path.join(root, "out", "extension-start"))],
    userDataDir: data,
    ...(first ? { settings } : {}),
  });
  const address = editor.url(sample, source);
  console.log(`\nVS Code is open on samples/two-threads at\n\n  ${address}\n\nCtrl-C ends it.`);
  openBrowser(address);
  await new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.once(signal, resolve);
    }
  });
  await editor.stop();
}

function openBrowser(address) {
  const display = process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  if (display && !process.env.CI && which("xdg-open") !== undefined) {
    spawn("xdg-open", [address], { detached: true, stdio: "ignore" })
      .on("error", () => undefined)
      .unref();
  }
}

await main(import.meta.url, async () => {
  const editor = !process.argv.includes("--no-editor") && !process.env.FULCRUM_NO_EDITOR;
  const { fulcrum, whole } = await bootstrapCausal();
  await buildSample();
  await profileSample(fulcrum);
  // Nothing is compiled while the sample runs, because that would disturb it.
  if (!whole) {
    await bootstrap();
  }
  if (!editor) {
    return;
  }
  const vsix = await packageExtension();
  if (!(await openDesktop(vsix))) {
    await openServer();
  }
});
