/** Tells menus what run folders hold, so that each is offered what it can be opened as. */
import * as vscode from "vscode";
import { Latest } from "../../core/engine/latest";
import type { RunKind } from "../../core/engine/protocol";
import { runKeys } from "../../core/menus";
import type { Engine } from "../editor/engine";
import type { RunStore } from "./runStore";

export function publishRunKinds(engine: Engine, store: RunStore): vscode.Disposable {
  const latest = new Latest<Record<RunKind, string[]>>({ causal: [], events: [], transactions: [], unknown: [] });
  const tell = async () => {
    try {
      if (await latest.ask(() => store.foldersByKind())) {
        const keys = Object.entries(runKeys) as [keyof typeof runKeys, string][];
        for (const [kind, key] of keys) {
          await vscode.commands.executeCommand("setContext", key, latest.value[kind]);
        }
      }
    } catch (error) {
      engine.log.warn(`Looking at what the runs hold failed: ${error}`);
    }
  };
  void tell();
  return store.onDidChange(tell);
}
