/** *Run and Profile Transactions…*: asks for a command, records it and all that it starts, and opens the run. */
import * as path from "node:path";
import * as vscode from "vscode";
import { argumentsProblem } from "../../core/causal/runRequest";
import type { LongParams } from "../../core/engine/longRequest";
import {
  type ProgressToken,
  requests,
  type TransactionsLiveParams,
  type TransactionsOutcome,
  type TransactionsStartParams,
} from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import { splitShellWords } from "../../core/text/shellWords";
import type { Engine } from "../editor/engine";
import { baseFolder, settingsFor, workspaceOf } from "../editor/folders";
import { shownRequest } from "../editor/longRequest";
import * as messages from "../editor/messages";

/** What to record. */
interface Command {
  program: string;
  args: string[];
  cwd: string;
}

const lastCommandKey = "fulcrum.lastTransactions";

/** Shows a recording while it goes on. */
interface Follower {
  /** The recording has made progress. `stop` ends it. */
  follow(live: TransactionsLiveParams, stop: () => void): void;
  /** The recording is over, however it ended. */
  ended(): void;
}

export class RecordTransactions extends Owner {
  private recording = false;

  constructor(
    private readonly engine: Engine,
    private readonly memory: vscode.Memento,
    private readonly follower: Follower,
  ) {
    super();
    this.own(vscode.commands.registerCommand("fulcrum.transactions.record", (given?: Command) => this.record(given)));
  }

  /** Records a whole command at once (a keybinding, a test); else it asks. */
  private async record(given: Command | undefined): Promise<void> {
    if (!(await messages.mayRun("Transactions can still be opened and read."))) {
      return;
    }
    if (this.recording) {
      await messages.info("Fulcrum is already recording transactions. Stop that, or wait until it ends.");
      return;
    }
    const command = given?.program === undefined ? await this.ask() : given;
    if (command === undefined) {
      return;
    }
    this.recording = true;
    try {
      await this.run(command);
    } catch (error) {
      const edit = "Edit Command…";
      this.recording = false;
      if ((await messages.showTrouble(this.engine.log, `Recording ${command.program}`, error, edit)) === edit) {
        await vscode.commands.executeCommand("fulcrum.transactions.record");
      }
    } finally {
      this.recording = false;
    }
  }

  /** `undefined` when the user dismissed the question. */
  private async ask(): Promise<Command | undefined> {
    const cwd = baseFolder();
    const text = await vscode.window.showInputBox({
      title: "Run and Profile Transactions",
      value: this.memory.get<string>(lastCommandKey, ""),
      prompt: `The command line of a server, or of a script that starts several. It runs in ${cwd} until you stop it. Send it requests meanwhile.`,
      ignoreFocusOut: true,
      validateInput: (text) =>
        text.trim() === "" ? "Type a command, as in: build/server --port 8080" : argumentsProblem(text),
    });
    const [program, ...args] = text === undefined ? [] : splitShellWords(text);
    if (text === undefined || program === undefined) {
      return undefined;
    }
    await this.memory.update(lastCommandKey, text);
    return { program, args, cwd };
  }

  private async run({ program, args, cwd }: Command): Promise<void> {
    const params = { program, args, cwd, workspace: workspaceOf(cwd), ...allowedOverhead(cwd) };
    const outcome = await this.followed(params);
    this.engine.log.info(`Recorded ${outcome.run}: ${outcome.exit}`);
    for (const note of outcome.notes) {
      this.engine.log.info(`Note: ${note}`);
    }
    await vscode.commands.executeCommand("fulcrum.transactions.open", outcome.run);
    if (!outcome.endedNormally) {
      await messages.info(outcome.exit);
    }
  }

  /** Records, and shows what was recorded so far. */
  private async followed(params: LongParams<TransactionsStartParams>): Promise<TransactionsOutcome> {
    let token: ProgressToken | undefined;
    let stop = () => {};
    const news = this.engine.onDidReportTransactions((live) => {
      if (live.token === token) {
        this.follower.follow(live, stop);
      }
    });
    try {
      return await shownRequest(this.engine, requests.TransactionsStart, params, {
        title: `Recording ${path.basename(params.program)}`,
        // The recording ends with its result.
        onCancel: "stop",
        begun: (begun, cancel) => {
          token = begun;
          stop = cancel;
        },
      });
    } finally {
      news.dispose();
      this.follower.ended();
    }
  }
}

/** What the setting says about the cost of recording. */
function allowedOverhead(folder: string): Pick<TransactionsStartParams, "maxOverhead" | "pauses"> {
  const percent = settingsFor(folder).get<number | null>("transactions.maxOverhead", null);
  return percent === null ? { pauses: false } : { maxOverhead: percent / 100 };
}
