/** Runs a suite if the workspace has a request for one, and writes the result beside that request. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import * as vscode from "vscode";
import type { SuiteResult } from "../harness";

export async function activate(): Promise<void> {
  const suite = process.env.FULCRUM_HOST_SUITE;
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (suite === undefined || folder === undefined) {
    return;
  }
  const wish = vscode.Uri.joinPath(folder.uri, ".host-tests.json").fsPath;
  const { group } = JSON.parse(readFileSync(wish, "utf8")) as { group: string };
  const result = await load(suite, group);
  // A rename, so that a reader never sees half a file.
  writeFileSync(`${wish}.part`, JSON.stringify(result));
  renameSync(`${wish}.part`, `${wish}.result`);
}

async function load(suite: string, group: string): Promise<SuiteResult> {
  try {
    const { runSuite } = require(suite) as { runSuite: (group: string) => Promise<SuiteResult> };
    return await runSuite(group);
  } catch (error) {
    return { tests: [], failures: [{ name: `loading the suite ${group}`, message: String(error) }] };
  }
}
