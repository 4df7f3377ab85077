/** The first time that a workspace has results unasked, the Ranking opens, and a message says what to do with them. */
import * as vscode from "vscode";
import { bestRow, summarySentence } from "../../core/text/format";
import * as messages from "../editor/messages";
import type { CausalResults } from "./causalResults";

const doneKey = "fulcrum.welcomed";

export class Welcome {
  constructor(
    private readonly results: CausalResults,
    private readonly memory: vscode.Memento,
  ) {}

  /** A profile was opened without being asked for. */
  async opened(): Promise<void> {
    const { summary, rows } = this.results;
    const wanted = vscode.workspace.getConfiguration("fulcrum").get<boolean>("showFirstResult", true);
    if (!wanted || summary === null || this.memory.get<boolean>(doneKey, false)) {
      return;
    }
    await this.memory.update(doneKey, true);
    await vscode.commands.executeCommand("fulcrum.ranking.open", { preserveFocus: true });
    const best = bestRow(rows);
    const go = "Go to Line";
    const walk = "Take the Walkthrough";
    const next =
      best === undefined ? "" : " Point at the line to see its curve. Then make it faster, run again, and compare.";
    const actions = best === undefined ? [walk] : [go, walk];
    const choice = await messages.info(`${summarySentence(summary, best)}${next}`, ...actions);
    if (choice === go) {
      await vscode.commands.executeCommand("fulcrum.ranking.goto", best);
    } else if (choice === walk) {
      await vscode.commands.executeCommand("fulcrum.openWalkthrough");
    }
  }
}
