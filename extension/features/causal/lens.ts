/** Above each progress point: run the program, again with one click. */
import * as vscode from "vscode";
import { pointsIn, progressLanguages } from "../../core/causal/progressLines";
import type { ProgressLines } from "../progressPoints/progressLines";
import type { Session } from "./session";

export class Lens implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];
  private was = "";

  constructor(
    private readonly session: Session,
    private readonly lines: ProgressLines,
    /** The name of the program that was run last. */
    private readonly lastProgram: () => string | undefined,
  ) {
    const languages = progressLanguages.map((language) => ({ scheme: "file", language }));
    this.subscriptions = [
      this.changed,
      vscode.languages.registerCodeLensProvider(languages, this),
      lines.onDidChange(() => this.changed.fire()),
      session.onDidChangeRun(() => this.follow()),
      session.onDidChangeResults(() => this.follow()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("fulcrum.codeLens")) {
          this.changed.fire();
        }
      }),
    ];
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

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  private commands(): vscode.Command[] {
    if (this.session.run !== null) {
      return [{ title: "$(debug-stop) Stop and Show Results", command: "fulcrum.causal.stop" }];
    }
    const program = this.lastProgram();
    const run = { title: "$(play) Run Causal Profiler…", command: "fulcrum.causal.run" };
    if (program === undefined) {
      return [run];
    }
    const again = { title: `$(debug-rerun) Run ${program} Again`, command: "fulcrum.causal.runAgain" };
    const longer = { title: "$(debug-continue) Run Longer", command: "fulcrum.causal.runLonger" };
    return this.session.canRunLonger ? [again, longer, run] : [again, run];
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
