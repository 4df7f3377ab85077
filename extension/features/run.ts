/** Running a program under the causal profiler: the command, its progress, and what is said at the end. */
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { troubleOf } from "../core/errors";
import { bestRow, summarySentence } from "../core/format";
import { type AimTarget, type RunOutcome, requests } from "../core/protocol";
import { type RunDefaults, type RunInput, type RunRequest, resolvePath, runRequest } from "../core/runRequest";
import type { Engine } from "./engine";
import { baseFolder, settingsFor, workspaceOf } from "./folders";
import { shownRequest } from "./longRequest";
import * as messages from "./messages";
import type { OpenProfile } from "./openProfile";
import { askRunInput } from "./runWizard";
import type { Session } from "./session";

const lastRunKey = "fulcrum.lastRun";

export class Run implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly engine: Engine,
    private readonly session: Session,
    private readonly profiles: OpenProfile,
    private readonly memory: vscode.Memento,
  ) {
    this.subscriptions = [
      vscode.commands.registerCommand("fulcrum.causal.run", (request?: Partial<RunRequest>) => this.command(request)),
      vscode.commands.registerCommand("fulcrum.causal.stop", () => this.session.run?.cancel()),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** With a whole request it runs at once (a keybinding, a test); else it asks. */
  private async command(given?: Partial<RunRequest>): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      const manage = "Manage Workspace Trust";
      const choice = await messages.warn(
        "Running a program needs a trusted workspace. Profiles can be opened and read without.",
        manage,
      );
      if (choice === manage) {
        await vscode.commands.executeCommand("workbench.trust.manage");
      }
      return;
    }
    if (this.session.run !== null) {
      await messages.info(
        `Fulcrum is already profiling ${path.basename(this.session.run.program)}. Stop it, or wait until it ends.`,
      );
      return;
    }
    const base = baseFolder();
    const request = given?.program === undefined ? await this.ask(base) : complete({ ...given }, given.program, base);
    if (request !== undefined) {
      await this.run(request);
    }
  }

  private async ask(base: string): Promise<RunRequest | undefined> {
    const proposed = settingsFor(base).get<number | null>("run.durationSeconds", null);
    const first: RunInput = {
      program: "",
      args: "",
      cwd: "",
      duration: "",
      ...this.memory.get<Partial<RunInput>>(lastRunKey),
      // What the settings propose is proposed each time.
      ...(proposed === null ? {} : { duration: String(proposed) }),
    };
    const input = await askRunInput(first, base);
    if (input === undefined) {
      return undefined;
    }
    await this.memory.update(lastRunKey, input);
    return runRequest(input, runDefaults(resolvePath(input.cwd || base, base, homedir())), base, homedir());
  }

  private async run(request: RunRequest): Promise<void> {
    const name = path.basename(request.program);
    const startedAt = Date.now();
    this.engine.log.info(`Run: ${JSON.stringify(request)}`);
    try {
      const params = { ...request, workspace: workspaceOf(request.cwd) };
      const outcome = await shownRequest(this.engine, requests.CausalRun, params, {
        title: `Profiling ${name}`,
        // The run ends with its result.
        onCancel: "stop",
        begun: (token, cancel) =>
          this.session.setRun({ program: request.program, message: "", live: null, token, cancel }),
      });
      this.profiles.shownByItself(outcome.run);
      await this.session.show(outcome.summary);
      this.session.setRun(null);
      await this.report(name, outcome);
    } catch (error) {
      this.session.setRun(null);
      if (troubleOf(error).connectionLost) {
        await this.recover(name, startedAt);
      } else {
        const edit = "Edit Run…";
        if ((await messages.showTrouble(this.engine.log, `Profiling ${request.program}`, error, edit)) === edit) {
          await vscode.commands.executeCommand("fulcrum.causal.run");
        }
      }
    }
  }

  private async report(name: string, outcome: RunOutcome): Promise<void> {
    const { summary, notes, exit } = outcome;
    this.engine.log.info(`Run ended: ${exit} ${outcome.run}`);
    for (const note of notes) {
      this.engine.log.info(`Note: ${note}`);
    }
    const best = bestRow(this.session.rows);
    if (summary !== null && best !== undefined) {
      const show = "Show";
      const choice = await messages.info(summarySentence(summary, best), show);
      if (choice === show) {
        await vscode.commands.executeCommand("fulcrum.ranking.open");
        await vscode.commands.executeCommand("fulcrum.ranking.goto", best);
      }
      return;
    }
    const showLog = "Show Log";
    const reason = notes[0] ?? "It gave too little data for a prediction. Run it longer.";
    const choice = await messages.warn(`${name}: ${exit} ${reason}`, showLog);
    if (choice === showLog) {
      this.engine.log.show();
    }
  }

  /** The engine died while the program ran. The program goes on and records; what it has recorded so far is opened. */
  private async recover(name: string, startedAt: number): Promise<void> {
    const reload = "Load Newer Results";
    const showLog = "Show Log";
    try {
      await this.engine.ready();
      await this.session.whenReopened();
      const run = await this.profiles.newestOfAll(startedAt - 2000);
      if (run === undefined) {
        throw new Error("nothing was recorded yet");
      }
      await this.session.open(run.path);
      let choice: string | undefined;
      do {
        choice = await messages.warn(
          `The engine stopped while it profiled ${name}. The program goes on. What was recorded is in ${run.path}, and it is open again.`,
          reload,
          showLog,
        );
        if (choice === reload) {
          await this.session.open(run.path);
        }
      } while (choice === reload);
      if (choice === showLog) {
        this.engine.log.show();
      }
    } catch (error) {
      await messages.showTrouble(this.engine.log, `Recovering the run of ${name}`, {
        message: `The engine stopped while it profiled ${name}. The program goes on, but nothing that it recorded could be opened (${troubleOf(error).message.replace(/\.$/, "")})`,
        data: { blame: "fulcrum", advice: "Open it later by Fulcrum: Open Last Run." },
      });
    }
  }
}

function complete(given: Partial<RunRequest>, program: string, base: string): RunRequest {
  const cwd = given.cwd === undefined ? base : path.resolve(base, given.cwd);
  const defaults = runDefaults(cwd);
  return {
    program: path.resolve(base, program),
    args: given.args ?? [],
    cwd,
    durationSeconds: given.durationSeconds ?? null,
    until: given.until ?? defaults.until,
    aim: { ...defaults.aim, ...given.aim },
    progress: given.progress ?? defaults.progress,
    maxOverhead: given.maxOverhead ?? defaults.maxOverhead,
    endToEnd: given.endToEnd ?? defaults.endToEnd,
  };
}

/** What the settings `fulcrum.causal.*` say of a folder. */
function runDefaults(folder: string): RunDefaults {
  const settings = settingsFor(folder);
  const until = settings.get<number | null>("causal.until", null);
  const maxOverhead = settings.get<number | null>("causal.maxOverhead", null);
  return {
    until: until === null ? null : until / 100,
    progress: settings.get<string[]>("causal.progress", []),
    maxOverhead: maxOverhead === null ? null : maxOverhead / 100,
    endToEnd: settings.get<boolean>("causal.endToEnd", false)
      ? { runs: settings.get<number | null>("causal.runs", null) }
      : null,
    aim: {
      target: settings.get<AimTarget>("causal.target", "line"),
      paths: settings.get<string[]>("causal.paths", []),
      sourceScope: settings.get<string[]>("causal.sourceScope", []),
      binaryScope: settings.get<string[]>("causal.binaryScope", []),
    },
  };
}
