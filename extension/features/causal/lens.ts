/** Above each progress point: run the program, again with one click. */
import * as vscode from "vscode";
import { pointsIn, progressLanguages } from "../../core/causal/progressLines";
import { Owner } from "../../core/owner";
import type { ProgressLines } from "../progressPoints/progressLines";
import type { CausalResults } from "./causalResults";

export class Lens extends Owner implements vscode.CodeLensProvider {
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChangeCodeLenses = this.changed.event;
  private was = "";

  constructor(
    private readonly results: CausalResults,
    private readonly lines: ProgressLines,
    /** The name of the program that was run last. */
    private readonly lastProgram: () => string | undefined,
  ) {
    super();
    const languages = progressLanguages.map((language) => ({ scheme: "file", language }));
    this.ownAll(
      vscode.languages.registerCodeLensProvider(languages, this),
      lines.onDidChange(() => this.changed.fire()),
      results.onDidChangeRun(() => this.follow()),
      results.onDidChangeResults(() => this.follow()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("fulcrum.codeLens")) {
          this.changed.fire();
        }
      }),
    );
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const settings = vscode.workspace.getConfiguration("fulcrum", document);
    if (!settings.get<boolean>("codeLens", true)) {
      return [];
    }
    const points = pointsIn(document.getText(), document.languageId);
    const lines = new Set([...points, ...this.lines.of(document.uri)].filter((line) => line < document.lineCount));
    return [...lines].flatMap((line) =>
      this.commands().map((it) => new vscode.CodeLens(new vscode.Range(line, 0, line, 0), it)),
    );
  }

  private commands(): vscode.Command[] {
    if (this.results.run !== null) {
      return [{ title: "$(debug-stop) Stop and Show Results", command: "fulcrum.causal.stop" }];
    }
    const program = this.lastProgram();
    const run = { title: "$(play) Run Causal Profiler…", command: "fulcrum.causal.run" };
    if (program === undefined) {
      return [run];
    }
    const again = { title: `$(debug-rerun) Run ${program} Again`, command: "fulcrum.causal.runAgain" };
    const longer = { title: "$(debug-continue) Run Longer", command: "fulcrum.causal.runLonger" };
    return this.results.canRunLonger ? [again, longer, run] : [again, run];
  }

  /** Reports come twice a second; most change nothing here. */
  private follow(): void {
    const now = JSON.stringify(this.commands());
    if (now !== this.was) {
      this.was = now;
      this.changed.fire();
    }
  }
}
