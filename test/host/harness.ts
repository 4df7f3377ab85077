/** A minimal test runner for code that runs inside the extension host. */
import assert from "node:assert/strict";
import * as vscode from "vscode";
import type { Fulcrum } from "../../extension/extension";
import { Script } from "../support/play.mjs";
import { Observer } from "./observer";

export interface Failure {
  name: string;
  message: string;
}

export interface SuiteResult {
  /** The tests that passed, with their times in milliseconds. */
  tests: { name: string; ms: number; ok: true }[];
  failures: Failure[];
}

/** The time limit of a wait, in milliseconds. It only catches hangs; it does not measure the machine. */
const limit = 180_000;

interface Test {
  name: string;
  body: () => Promise<void>;
}

const tests: Test[] = [];

export function test(name: string, body: () => Promise<void>): void {
  tests.push({ name, body });
}

/** Runs all tests up to the first that fails, because its leftovers would only make others fail. */
export async function runTests(): Promise<SuiteResult> {
  const result: SuiteResult = { tests: [], failures: [] };
  for (const { name, body } of tests) {
    const begun = performance.now();
    try {
      await within(3 * limit, body());
      result.tests.push({ name, ms: performance.now() - begun, ok: true });
    } catch (error) {
      result.failures.push({ name, message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      break;
    }
  }
  return result;
}

let observer: Promise<Observer> | undefined;

/** What the extension under test shows. The first call activates it. */
export function fulcrum(): Promise<Observer> {
  observer ??= observe();
  return observer;
}

async function observe(): Promise<Observer> {
  const extension = vscode.extensions.getExtension<Fulcrum>("fulcrum.fulcrum");
  assert.ok(extension, "the extension fulcrum.fulcrum is not installed");
  return new Observer(await extension.activate());
}

export function inWorkspace(file: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, "the test editor has no folder open");
  return vscode.Uri.joinPath(folder.uri, file);
}

export async function show(file: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(inWorkspace(file)));
}

/**
 * Waits until the probe returns a value. Probes again whenever something that the extension or the editor shows has changed.
 * `what` names what it waits for, or is called for the name when the wait ends.
 */
export async function until<T>(
  what: string | (() => string),
  probe: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const api = await fulcrum();
  const late = AbortSignal.timeout(limit);
  let changes = 0;
  let wake = () => {};
  const changed = () => {
    changes += 1;
    wake();
  };
  late.addEventListener("abort", changed);
  const listening = [
    api.onDidChange(changed),
    vscode.window.tabGroups.onDidChangeTabs(changed),
    vscode.window.onDidChangeActiveTextEditor(changed),
    vscode.workspace.onDidChangeTextDocument(changed),
    vscode.workspace.onDidChangeConfiguration(changed),
  ];
  try {
    for (;;) {
      const seen = changes;
      const value = await probe();
      if (value !== undefined && value !== false) {
        return value;
      }
      if (late.aborted) {
        throw new Error(`Waited ${limit / 1000} seconds for ${typeof what === "function" ? what() : what}.`);
      }
      if (seen === changes) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    for (const listener of listening) {
      listener.dispose();
    }
  }
}

/**
 * The editor starts to watch the workspace a moment after it opens it, and misses earlier writes. Writes a file until the
 * editor notices.
 */
export async function watching(): Promise<void> {
  const file = inWorkspace("watched");
  const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(inWorkspace(""), "watched"));
  let noticed = false;
  const notice = () => {
    noticed = true;
  };
  watcher.onDidCreate(notice);
  watcher.onDidChange(notice);
  const late = AbortSignal.timeout(limit);
  for (let times = 0; !noticed; times += 1) {
    assert.ok(!late.aborted, `${limit / 1000} seconds without a change event for ${file.fsPath}`);
    await vscode.workspace.fs.writeFile(file, Buffer.from(String(times)));
  }
  watcher.dispose();
}

/** Starts a command that ends only when the user answers its message, and does not answer. */
export function begin(command: string, ...args: unknown[]): void {
  void vscode.commands.executeCommand(command, ...args);
}

/**
 * The next page message that matches. Call this before the action, and the function that it returns after it.
 */
export async function nextPage<T>(is: (message: unknown) => message is T): Promise<(what: string) => Promise<T>> {
  const api = await fulcrum();
  const before = api.pages().length;
  return (what) => until(what, () => api.pages().slice(before).find(is));
}

/** The first new message that matches. Call {@link Messages.mark} before the action. */
export class Messages {
  private constructor(
    private readonly api: Observer,
    private readonly before: number,
  ) {}

  static mark(api: Observer): Messages {
    return new Messages(api, api.messages().length);
  }

  next(pattern: RegExp): Promise<string> {
    return until(
      () => `a message like ${pattern}; shown: ${JSON.stringify(this.api.messages())}`,
      () =>
        this.api
          .messages()
          .slice(this.before)
          .find((message) => pattern.test(message)),
    );
  }
}

/** A program that does not exist, whose next run is played from a script; and the folder of that run. */
export function scripted(name: string): { program: string; script: Script; run: string } {
  const program = inWorkspace("build/app").fsPath;
  const script = new Script(program);
  const recorded = inWorkspace(".fulcrum/runs/20261121T131500Z-two-threads").fsPath;
  return { program, script, run: script.run(inWorkspace("").fsPath, recorded, name) };
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const late = AbortSignal.timeout(milliseconds);
  const over = new Promise<never>((_, reject) => {
    late.addEventListener("abort", () => reject(new Error(`not done after ${milliseconds / 1000} seconds`)));
  });
  await Promise.race([work, over]);
}
