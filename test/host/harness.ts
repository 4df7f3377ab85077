/** A test runner of one page, for code that runs inside the extension host. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import * as vscode from "vscode";
import type { TestApi } from "../../extension/extension";

export interface Failure {
  name: string;
  message: string;
}

export interface SuiteResult {
  passed: number;
  failures: Failure[];
  activationMs?: number;
}

/** For what never comes, in milliseconds. It says nothing about how fast a machine is. */
const limit = 180_000;

interface Test {
  name: string;
  body: () => Promise<void>;
}

const tests: Test[] = [];

export function test(name: string, body: () => Promise<void>): void {
  tests.push({ name, body });
}

/** All of them, or those whose names match FULCRUM_HOST_ONLY. */
export async function runTests(): Promise<SuiteResult> {
  const failures: Failure[] = [];
  let passed = 0;
  const only = new RegExp(process.env.FULCRUM_HOST_ONLY ?? "");
  for (const { name, body } of tests.filter((entry) => only.test(entry.name))) {
    try {
      await within(3 * limit, body());
      passed += 1;
    } catch (error) {
      failures.push({ name, message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
  return { passed, failures, activationMs: (await fulcrum()).activationMs };
}

/** The extension under test, activated. */
export async function fulcrum(): Promise<TestApi> {
  const extension = vscode.extensions.getExtension<TestApi>("fulcrum.fulcrum");
  assert.ok(extension, "the extension fulcrum.fulcrum is not installed");
  return extension.activate();
}

export function inWorkspace(file: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, "the test editor has no folder open");
  return vscode.Uri.joinPath(folder.uri, file);
}

export async function show(file: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(inWorkspace(file)));
}

/** Waits until the probe gives a value. Fails with what the probe last said. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadline = Date.now() + limit;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) {
      return value;
    }
    if (Date.now() > deadline) {
      throw new Error(`Waited ${limit / 1000} seconds for ${what}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Starts a command that ends only when the user answers its message, and leaves the message alone. */
export function begin(command: string, ...args: unknown[]): void {
  void vscode.commands.executeCommand(command, ...args);
}

/** The first new message that matches. Call {@link Messages.mark} before the action. */
export class Messages {
  private constructor(
    private readonly api: TestApi,
    private readonly before: number,
  ) {}

  static mark(api: TestApi): Messages {
    return new Messages(api, api.messages().length);
  }

  next(pattern: RegExp): Promise<string> {
    return until(`a message like ${pattern}; shown: ${JSON.stringify(this.api.messages())}`, () =>
      this.api
        .messages()
        .slice(this.before)
        .find((message) => pattern.test(message)),
    );
  }
}

export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Processes whose command line begins with this program. */
export function processesOf(program: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0")[0] === program;
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${milliseconds / 1000} seconds`)), milliseconds);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
