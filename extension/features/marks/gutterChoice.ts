/** Which results are shown beside the code: causal ones or a profile's hot lines. Never both; the status bar says which. */
import * as vscode from "vscode";
import { Owner } from "../../core/owner";
import { type GutterSource, gutterSentence } from "../../core/profiles/hotLines";
import type { CausalResults } from "../causal/causalResults";
import * as messages from "../editor/messages";
import type { Navigation } from "../navigator/navigation";

export class GutterChoice extends Owner {
  private wanted: GutterSource = "causal";
  /** How often each was opened, and what could be shown then. */
  private opens = { causal: 0, profile: 0 };
  private seen = "";
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly results: CausalResults,
    private readonly navigation: Navigation,
  ) {
    super();
    this.ownAll(
      results.onDidChangeResults(() => this.follow()),
      navigation.onDidChange(() => this.follow()),
      vscode.commands.registerCommand("fulcrum.gutter.switch", () => this.switch()),
    );
  }

  get source(): GutterSource {
    const { causal, profile } = this.titles;
    return profile !== undefined && (this.wanted === "profile" || causal === undefined) ? "profile" : "causal";
  }

  /** Of what can be shown. */
  get titles(): { causal: string | undefined; profile: string | undefined } {
    return { causal: this.results.summary?.title, profile: this.navigation.open?.opened.title };
  }

  /** Whether the profile is a comparison. */
  get comparison(): boolean {
    return this.navigation.open?.opened.kind === "comparison";
  }

  /** The profile whose hot lines are shown; null: causal results are. */
  get hotLines(): { title: string; comparison: boolean } | null {
    const title = this.titles.profile;
    return this.source === "profile" && title !== undefined ? { title, comparison: this.comparison } : null;
  }

  /** Shows what the user opened last. A restarted engine opens both again, which changes nothing. */
  private follow(): void {
    const { causal, profile } = this.titles;
    if (causal !== undefined && this.results.opens !== this.opens.causal) {
      this.opens.causal = this.results.opens;
      this.wanted = "causal";
    }
    if (profile !== undefined && this.navigation.opens !== this.opens.profile) {
      this.opens.profile = this.navigation.opens;
      this.wanted = "profile";
    }
    const now = JSON.stringify([this.source, causal, profile]);
    if (now !== this.seen) {
      this.seen = now;
      this.changes();
    }
  }

  private switch(): void {
    const { causal, profile } = this.titles;
    if (causal === undefined || profile === undefined) {
      const open = causal ?? profile;
      const text =
        open === undefined
          ? "Nothing is open whose results the gutter could show."
          : `${gutterSentence(this.source, open, this.comparison)} Nothing else is open.`;
      messages.showStatus(text);
      return;
    }
    this.wanted = this.source === "causal" ? "profile" : "causal";
    const title = this.source === "causal" ? causal : profile;
    messages.showStatus(gutterSentence(this.source, title, this.comparison));
    this.changes();
  }

  private changes(): void {
    const { causal, profile } = this.titles;
    void vscode.commands.executeCommand(
      "setContext",
      "fulcrum.gutterChoice",
      causal !== undefined && profile !== undefined,
    );
    this.changed.fire();
  }
}
