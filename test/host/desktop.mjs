/** The host level in desktop VS Code, downloaded by @vscode/test-electron: `node test/host/desktop.mjs`. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { runTests } from "@vscode/test-electron";
import { writeResults } from "../support/results.mjs";
import {
  copyTraces,
  engineBinary,
  makeWorkspace,
  scriptedEngine,
  stageDriver,
  stageExtension,
} from "../support/stage.mjs";

const extension = await stageExtension();
const driver = await stageDriver();
const workspace = makeWorkspace();
copyTraces(workspace.folder);
const output = mkdtempSync(path.join(tmpdir(), "fulcrum-desktop-"));
const result = path.join(output, "result.json");
try {
  let problem = "the editor ended without a result";
  try {
    await runTests({
      ...(process.env.VSCODE_EXECUTABLE_PATH ? { vscodeExecutablePath: process.env.VSCODE_EXECUTABLE_PATH } : {}),
      extensionDevelopmentPath: extension,
      extensionTestsPath: driver.suite,
      extensionTestsEnv: { FULCRUM_ENGINE: scriptedEngine(engineBinary()), FULCRUM_HOST_RESULT: result },
      launchArgs: [
        workspace.folder,
        ...["--disable-extensions", "--disable-workspace-trust", "--skip-welcome", "--skip-release-notes"],
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        `--user-data-dir=${path.join(output, "data")}`,
      ],
    });
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const { tests, failures } = existsSync(result)
    ? JSON.parse(readFileSync(result, "utf8"))
    : { tests: [], failures: [{ name: "starting desktop VS Code", message: problem }] };
  const failed = failures.map(({ name }) => ({ name, ms: 0, ok: false }));
  writeResults("desktop", tests.length, failures, [...tests, ...failed]);
} finally {
  workspace.remove();
  rmSync(output, { recursive: true, force: true });
}
