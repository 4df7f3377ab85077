/** Commands for a run in progress: pause, resume, another target or scope, and back to its results. */
import * as vscode from "vscode";
import { aimText, lineAim, listOf, pathsOf, pathsProblem, targetKinds } from "../../core/causal/live";
import { type Aim, type AimTarget, type ControlAction, requests } from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import type { FocusOptions } from "../editor/commandArgument";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import type { CausalResults } from "./causalResults";

interface AimItem extends vscode.QuickPickItem {
  choice: AimTarget | "sourceScope" | "binaryScope";
}

export class Live extends Owner {
  constructor(
    private readonly engine: Engine,
    private readonly results: CausalResults,
  ) {
    super();
    this.ownAll(
      vscode.commands.registerCommand("fulcrum.causal.pause", () => this.control("pause")),
      vscode.commands.registerCommand("fulcrum.causal.resume", () => this.control("resume")),
      vscode.commands.registerCommand("fulcrum.causal.retarget", (aim?: Partial<Aim>) => this.retarget(aim)),
      vscode.commands.registerCommand("fulcrum.causal.showLive", (focus?: FocusOptions) => this.showLive(focus)),
    );
  }

  private async control(action: ControlAction, aim?: Aim): Promise<boolean> {
    const run = this.results.run;
    if (run === null) {
      await messages.info("No causal run is in progress. Start one with Fulcrum: Run Causal Profiler.");
      return false;
    }
    try {
      await this.engine.request(requests.CausalControl, { token: run.token, action, ...(aim && { aim }) });
      return true;
    } catch (error) {
      await messages.showTrouble(this.engine.log, `The run of ${run.program} (${action})`, error);
      return false;
    }
  }

  private async showLive(focus?: FocusOptions): Promise<void> {
    if (await this.control("show")) {
      await vscode.commands.executeCommand("fulcrum.ranking.open", focus);
    }
  }

  /** Applies an aim at once (a keybinding, a test); else it asks. */
  private async retarget(given?: Partial<Aim>): Promise<void> {
    const now = this.results.run?.live?.aim ?? lineAim;
    const aim = given === undefined ? await ask(now) : { ...now, ...given };
    if (aim !== undefined && (await this.control("retarget", aim))) {
      messages.showStatus(`Fulcrum now tests ${aimText(aim)}.`);
    }
  }
}

async function ask(now: Aim): Promise<Aim | undefined> {
  const scope = (patterns: string[], none: string) => (patterns.length === 0 ? none : patterns.join(", "));
  const targets: AimItem[] = targetKinds.map(({ kind, label, detail }) => ({
    label,
    detail,
    choice: kind,
    ...(kind === now.target && { description: "now" }),
  }));
  const picked = await vscode.window.showQuickPick<AimItem | vscode.QuickPickItem>(
    [
      { label: "Target", kind: vscode.QuickPickItemKind.Separator },
      ...targets,
      { label: "Scope", kind: vscode.QuickPickItemKind.Separator },
      {
        label: "Source Files…",
        description: scope(now.sourceScope, "all but system headers"),
        choice: "sourceScope",
      },
      { label: "Binaries…", description: scope(now.binaryScope, "the program itself"), choice: "binaryScope" },
    ],
    { title: "Change Scope or Target", placeHolder: `Now: ${aimText(now)}. What was recorded stays.` },
  );
  if (picked === undefined || !("choice" in picked)) {
    return undefined;
  }
  switch (picked.choice) {
    case "sourceScope":
      return withList(now, "sourceScope", "File patterns, with commas between. % matches anything. Empty: all files.");
    case "binaryScope":
      return withList(
        now,
        "binaryScope",
        "Binary patterns, with commas between. MAIN is the program. % matches anything.",
      );
    case "path": {
      const text = await vscode.window.showInputBox({
        title: "Call Paths",
        prompt: "Call sequences, the outermost function first, with commas between.",
        placeHolder: "main > serve > parse",
        value: now.paths.join(", "),
        ignoreFocusOut: true,
        validateInput: pathsProblem,
      });
      return text === undefined ? undefined : { ...now, target: "path", paths: pathsOf(text) };
    }
    default:
      return { ...now, target: picked.choice };
  }
}

async function withList(now: Aim, key: "sourceScope" | "binaryScope", prompt: string): Promise<Aim | undefined> {
  const text = await vscode.window.showInputBox({
    title: key === "sourceScope" ? "Source Scope" : "Binary Scope",
    prompt,
    placeHolder: key === "sourceScope" ? "src/%, include/%" : "MAIN, %libparse%",
    value: now[key].join(", "),
    ignoreFocusOut: true,
  });
  return text === undefined ? undefined : { ...now, [key]: listOf(text) };
}
