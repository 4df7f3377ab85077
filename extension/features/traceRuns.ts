/** Tells menus which run folders hold traces, for what only a trace can do. */
import * as vscode from "vscode";
import { Latest } from "../core/latest";
import { traceRunsKey } from "../core/menus";
import type { Engine } from "./engine";
import type { RunStore } from "./runStore";

export function tellTraceRuns(engine: Engine, store: RunStore): vscode.Disposable {
  const latest = new Latest<string[]>([]);
  const tell = async () => {
    try {
      if (await latest.ask(() => store.traceFolders())) {
        await vscode.commands.executeCommand("setContext", traceRunsKey, latest.value);
      }
    } catch (error) {
      engine.log.warn(`Looking for traces among the runs failed: ${error}`);
    }
  };
  void tell();
  return store.onDidChange(tell);
}
