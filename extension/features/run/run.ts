/** Running a program under the causal profiler: the command, its progress, and what is said at the end. */
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { type LastRun, longerDuration, noAnswer, requestOfManifest } from "../../core/causal/runAgain";
import {
  type RunDefaults,
  type RunInput,
  type RunRequest,
  resolvePath,
  runRequest,
} from "../../core/causal/runRequest";
import { troubleOf } from "../../core/engine/errors";
import { type AimTarget, type RunOutcome, requests } from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import type { BuildTarget } from "../../core/programs/targets";
import { bestRow, summarySentence } from "../../core/text/format";
import type { CausalProfileCommands } from "../causal/causalProfileCommands";
import type { CausalResults } from "../causal/causalResults";
import { type CommandArgument, fileOf } from "../editor/commandArgument";
import type { Engine } from "../editor/engine";
import { baseFolder, settingsFor, workspaceOf } from "../editor/folders";
import { shownRequest } from "../editor/longRequest";
import * as messages from "../editor/messages";
import { showLine } from "../editor/places";
import type { ProgressLines } from "../progressPoints/progressLines";
import { build } from "./builds";
import { textOf } from "./programs";
import { withProgress } from "./progressQuestion";
import { askRunInput } from "./runWizard";

/** What was typed into the wizard. */
const lastInputKey = "fulcrum.lastRun";
/** What was run last, however it was started. */
const lastRunKey = "fulcrum.lastRequest";
/** The proposed duration in seconds, when the user has not chosen one. */
const proposedSeconds = 60;

export class Run extends Owner {
  constructor(
    private readonly engine: Engine,
    private readonly results: CausalResults,
    private readonly profiles: CausalProfileCommands,
    private readonly lines: ProgressLines,
    private readonly memory: vscode.Memento,
  ) {
    super();
    setCanRunAgain(this.lastRun !== undefined);
    this.ownAll(
      vscode.commands.registerCommand("fulcrum.causal.runAgain", (run?: CommandArgument) => this.again(run)),
      vscode.commands.registerCommand("fulcrum.causal.runLonger", (run?: CommandArgument) => this.longer(run)),
      vscode.commands.registerCommand("fulcrum.causal.run", (request?: Partial<RunRequest>) => this.command(request)),
      vscode.commands.registerCommand("fulcrum.causal.stop", () => this.results.run?.cancel()),
    );
  }

  /** The name of the program that was run last. */
  get lastProgram(): string | undefined {
    const last = this.lastRun;
    return last === undefined ? undefined : path.basename(last.request.program);
  }

  private get lastRun(): LastRun | undefined {
    return this.memory.get<LastRun>(lastRunKey);
  }

  /** Runs a whole request at once (a keybinding, a test); else it asks. */
  private async command(given?: Partial<RunRequest>): Promise<void> {
    if (!(await this.mayRun())) {
      return;
    }
    const base = baseFolder();
    if (given?.program !== undefined) {
      const request = complete({ ...given }, given.program, base);
      const lines = given.progress === undefined ? await this.lines.forProgram(request.program) : [];
      await this.start({ request: { ...request, progress: [...request.progress, ...lines] } }, request);
      return;
    }
    const asked = await this.ask(base);
    if (asked !== undefined) {
      await this.prepare(asked);
    }
  }

  /** Repeats the last run, or a run of the Runs view. */
  private async again(run?: CommandArgument): Promise<void> {
    if (!(await this.mayRun())) {
      return;
    }
    const last = run === undefined ? (this.lastRun ?? (await this.asRecorded(this.results.summary?.path))) : undefined;
    const wanted = last ?? (await this.asRecorded(fileOf(run)));
    if (wanted === undefined) {
      await vscode.commands.executeCommand("fulcrum.causal.run");
      return;
    }
    await this.prepare(wanted);
  }

  /** Continues a run where it stopped: the open one, or one of the Runs view. */
  private async longer(run?: CommandArgument): Promise<void> {
    if (!(await this.mayRun())) {
      return;
    }
    const folder = fileOf(run) ?? this.results.summary?.path;
    const recorded = await this.asRecorded(folder);
    if (recorded === undefined || folder === undefined) {
      await messages.info("Open a causal run of this workspace first: it can continue where it stopped.");
      return;
    }
    const durationSeconds = longerDuration(recorded.request.durationSeconds);
    await this.start({ ...recorded, request: { ...recorded.request, durationSeconds, continues: folder } });
  }

  /** How a run of the workspace was asked for; built first when its program was built first the last time. */
  private async asRecorded(folder: string | undefined): Promise<LastRun | undefined> {
    const manifest = folder === undefined ? "" : await textOf(path.join(folder, "run.json"));
    const request = requestOfManifest(manifest);
    const last = this.lastRun;
    const builds = last?.build !== undefined && last.request.program === request?.program;
    return request && { request, ...(builds && { build: last.build as BuildTarget }) };
  }

  /** False after saying why not. */
  private async mayRun(): Promise<boolean> {
    if (!vscode.workspace.isTrusted) {
      const manage = "Manage Workspace Trust";
      const choice = await messages.warn(
        "Running a program needs a trusted workspace. Profiles can still be opened and read.",
        manage,
      );
      if (choice === manage) {
        await vscode.commands.executeCommand("workbench.trust.manage");
      }
      return false;
    }
    if (this.results.run !== null) {
      await messages.info(
        `Fulcrum is already profiling ${path.basename(this.results.run.program)}. Stop it, or wait until it ends.`,
      );
      return false;
    }
    return true;
  }

  private async ask(base: string): Promise<LastRun | undefined> {
    const proposed = settingsFor(base).get<number | null>("run.durationSeconds", null);
    const first: RunInput = {
      program: "",
      args: "",
      cwd: "",
      duration: String(proposedSeconds),
      ...this.memory.get<Partial<RunInput>>(lastInputKey),
      // The settings' duration is proposed each time.
      ...(proposed === null ? {} : { duration: String(proposed) }),
    };
    const input = await askRunInput(first, base);
    if (input === undefined) {
      return undefined;
    }
    await this.memory.update(lastInputKey, input);
    const defaults = runDefaults(resolvePath(input.cwd || base, base, homedir()));
    const request = runRequest(input, defaults, base, homedir());
    return { request, ...(input.build !== undefined && { build: input.build }) };
  }

  /** Builds the program when it is to be, asks what counts as progress when nothing does, and runs. */
  private async prepare({ request, build: target }: LastRun): Promise<void> {
    await this.remember({ request, ...(target !== undefined && { build: target }) });
    const program = target === undefined ? request.program : await build(target);
    if (program === undefined) {
      return;
    }
    const asked = await withProgress({ ...request, program }, this.lines);
    if (asked !== undefined) {
      // Lines move while the user types: where they are is asked again the next time.
      const kept = { ...request, program, endToEnd: asked.endToEnd };
      await this.start({ request: asked, ...(target !== undefined && { build: target }) }, kept);
    }
  }

  /** Runs, and remembers what was run. */
  private async start(run: LastRun, kept = run.request): Promise<void> {
    const { continues: _, ...request } = kept;
    await this.remember({ ...run, request });
    await this.run(run.request);
  }

  private async remember(run: LastRun): Promise<void> {
    await this.memory.update(lastRunKey, run);
    setCanRunAgain(true);
  }

  private async run(request: RunRequest): Promise<void> {
    const name = path.basename(request.program);
    const startedAt = Date.now();
    const before = this.results.answered;
    this.engine.log.info(`Run: ${JSON.stringify(request)}`);
    try {
      const params = { ...request, workspace: workspaceOf(request.cwd) };
      const outcome = await shownRequest(this.engine, requests.CausalRun, params, {
        title: `Profiling ${name}`,
        // The run ends with its result.
        onCancel: "stop",
        begun: (token, cancel) =>
          this.results.setRun({ program: request.program, message: "", live: null, token, cancel }),
      });
      this.profiles.shownByItself(outcome.run);
      await this.results.show(outcome.summary);
      const experiments = this.results.run?.live?.experiments ?? 0;
      this.results.setRun(null);
      await this.report(outcome, experiments, await this.results.keepAnswer(before));
    } catch (error) {
      this.results.setRun(null);
      if (troubleOf(error).connectionLost) {
        await this.recover(name, startedAt);
      } else {
        const edit = "Edit Run…";
        // A run that cannot be continued can be started again.
        const anew = "Run Again";
        const ways = request.continues === undefined ? [edit] : [anew, edit];
        const choice = await messages.showTrouble(this.engine.log, `Profiling ${request.program}`, error, ...ways);
        if (choice === edit) {
          await vscode.commands.executeCommand("fulcrum.causal.run");
        } else if (choice === anew) {
          await vscode.commands.executeCommand("fulcrum.causal.runAgain");
        }
      }
    }
  }

  private async report(outcome: RunOutcome, experiments: number, kept: string | undefined): Promise<void> {
    const { summary, notes, exit } = outcome;
    this.engine.log.info(`Run ended: ${exit} ${outcome.run}`);
    for (const note of notes) {
      this.engine.log.info(`Note: ${note}`);
    }
    const best = bestRow(this.results.rows);
    if (kept === undefined && summary !== null && best !== undefined) {
      const show = "Show";
      const choice = await messages.info(summarySentence(summary, best), show);
      if (choice === show) {
        await vscode.commands.executeCommand("fulcrum.ranking.open");
        await vscode.commands.executeCommand("fulcrum.ranking.goto", best);
      }
      return;
    }
    const showLog = "Show Log";
    const longer = "Run Longer";
    const progress = "Choose Progress…";
    const { message, next } = noAnswer({ exit, notes }, experiments, kept);
    const busiest = next === "progress" ? busiestLine() : undefined;
    const goTo = "Go to the Busiest Line";
    const ways = { longer: [longer], progress: [...(busiest === undefined ? [] : [goTo]), progress], none: [] }[next];
    const choice = await messages.warn(message, ...ways, showLog);
    if (choice === longer) {
      await this.longer(outcome.run);
    } else if (choice === goTo && busiest !== undefined) {
      await showLine(busiest.uri, busiest.line);
    } else if (choice === progress) {
      await this.again();
    } else if (choice === showLog) {
      this.engine.log.show();
    }
  }

  /** The engine died while the program ran. The program continues and records; what it has recorded so far is opened. */
  private async recover(name: string, startedAt: number): Promise<void> {
    const reload = "Load Newer Results";
    const showLog = "Show Log";
    try {
      await this.engine.ready();
      await this.results.whenReopened();
      const run = await this.profiles.newestOfAll(startedAt - 2000);
      if (run === undefined) {
        throw new Error("nothing was recorded yet");
      }
      await this.results.open(run.path);
      let choice: string | undefined;
      do {
        choice = await messages.warn(
          `The engine stopped while it profiled ${name}. The program goes on. What was recorded is in ${run.path}, and it is open again.`,
          reload,
          showLog,
        );
        if (choice === reload) {
          await this.results.open(run.path);
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

/** Where a run that passed no progress point spent most of its time: the engine marks it as a problem. */
function busiestLine(): { uri: vscode.Uri; line: number } | undefined {
  for (const [uri, diagnostics] of vscode.languages.getDiagnostics()) {
    const ours = diagnostics.find(({ source, code }) => source === "Fulcrum" && code === "noProgressPoint");
    if (ours !== undefined) {
      return { uri, line: ours.range.start.line };
    }
  }
  return undefined;
}

function setCanRunAgain(value: boolean): void {
  void vscode.commands.executeCommand("setContext", "fulcrum.canRunAgain", value);
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
