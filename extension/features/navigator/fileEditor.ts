/**
 * Files that a double click opens. A trace and transactions are shown in the tab itself; the results of other profiles
 * are shown beside the code and in their views, and the tab says so.
 */
import { readdir } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { customEditors } from "../../core/menus";
import { titleOf } from "../../core/navigator/navigationState";
import { Owner } from "../../core/owner";
import type { Question } from "../../core/page";
import {
  type FileKind,
  type FileState,
  type FromFile,
  fileCommands,
  filePage,
  kindOfFile,
  type ToFile,
} from "../../core/profiles/fileEditor";
import { runFolderOf } from "../../core/runs/runsOnDisk";
import { baseName } from "../../core/text/format";
import { fileHtml } from "../../views/file";
import type { CausalResults } from "../causal/causalResults";
import type { Engine } from "../editor/engine";
import { PagePanel, type PanelContext } from "../editor/pagePanel";
import type { Traces } from "../trace/traces";
import type { Transactions } from "../transactions/transactions";
import type { Navigation } from "./navigation";

/** What shows files in their own tab. */
interface Viewers {
  traces: Traces;
  transactions: Transactions;
}

/** What files are opened in. */
interface Opened {
  results: CausalResults;
  navigation: Navigation;
}

export class FileEditors extends Owner implements vscode.CustomReadonlyEditorProvider {
  constructor(
    readonly engine: Engine,
    readonly extensionUri: vscode.Uri,
    private readonly open: Opened,
    private readonly viewers: Viewers,
  ) {
    super();
    for (const { viewType } of customEditors) {
      this.own(
        vscode.window.registerCustomEditorProvider(viewType, this, {
          webviewOptions: { retainContextWhenHidden: true },
          supportsMultipleEditorsPerDocument: true,
        }),
      );
    }
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    const file = uri.fsPath;
    const kind = kindOfFile(file, uri.scheme === "file" ? await beside(file) : []);
    if (uri.scheme === "file" && kind === "trace") {
      await this.viewers.traces.show(path.basename(file) === "run.json" ? path.dirname(file) : file, panel);
      return;
    }
    if (uri.scheme === "file" && kind === "transactions") {
      await this.viewers.transactions.show(runFolderOf(file), panel);
      return;
    }
    const shown = new FilePanel(this, panel, uri, kind, this.open);
    panel.onDidDispose(() => shown.dispose());
  }
}

/** The names of files in its folder; none when that cannot be read. */
async function beside(file: string): Promise<string[]> {
  try {
    return await readdir(path.dirname(file));
  } catch {
    return [];
  }
}

/** The tab of one file whose results are shown elsewhere. */
class FilePanel extends PagePanel<ToFile, FromFile> {
  private readonly file: string;
  /** The page has said whether it is a new one. */
  private begun = false;
  /** A causal profile is being opened. */
  private opening = false;
  /** Why a causal profile could not be opened. */
  private trouble: string | undefined;

  constructor(
    context: PanelContext,
    panel: vscode.WebviewPanel,
    private readonly uri: vscode.Uri,
    private readonly kind: FileKind,
    private readonly open: Opened,
  ) {
    super(context, panel, { script: "file", style: "trace", html: fileHtml });
    this.file = kind === "causal" ? runFolderOf(uri.fsPath) : uri.fsPath;
    this.ownAll(
      open.results.onDidChangeResults(() => this.show()),
      open.navigation.onDidChange(() => this.show()),
    );
    this.page.remember({ file: this.file });
    this.show();
  }

  protected override async answer(message: Question<FromFile>): Promise<void> {
    if (message.type === "begin") {
      this.begun = true;
      // A tab that is loaded again opens nothing: something else may be open by now.
      await (message.again ? this.show() : this.openFile());
    } else if (message.command === "open") {
      await this.openFile();
    } else if (message.command === "text") {
      await vscode.commands.executeCommand("vscode.openWith", this.uri, "default");
    } else if (fileCommands.includes(message.command)) {
      await vscode.commands.executeCommand(message.command);
    }
  }

  private async openFile(): Promise<void> {
    if (this.uri.scheme !== "file" || this.kind === "unknown") {
      this.show();
    } else if (this.kind === "causal") {
      await this.openCausal();
    } else {
      await vscode.commands.executeCommand("fulcrum.profile.open", this.uri);
    }
  }

  private async openCausal(): Promise<void> {
    this.trouble = undefined;
    this.opening = true;
    this.show();
    try {
      await this.open.results.open(this.file);
      await vscode.commands.executeCommand("fulcrum.ranking.open", { preserveFocus: true });
    } catch (error) {
      const trouble = troubleOf(error);
      this.engine.log.error(`Opening ${this.file}: ${troubleText(trouble)}`);
      this.trouble = troubleText(trouble);
    } finally {
      this.opening = false;
      this.show();
    }
  }

  private show(): void {
    const kind = this.kind === "causal" || this.kind === "unknown" ? this.kind : "profile";
    this.page.show({ type: "show", page: filePage(kind, baseName(this.file), this.state()) });
  }

  private state(): FileState {
    if (this.uri.scheme !== "file") {
      return { kind: "trouble", text: `Fulcrum reads files on the disk; this one is from ${this.uri.scheme}.` };
    }
    if (!this.begun) {
      return { kind: "opening" };
    }
    return this.kind === "causal" ? this.causalState() : this.profileState();
  }

  private causalState(): FileState {
    const { summary } = this.open.results;
    if (this.opening) {
      return { kind: "opening" };
    }
    if (this.trouble !== undefined) {
      return { kind: "trouble", text: this.trouble };
    }
    return summary?.path === this.file ? { kind: "open" } : { kind: "left", other: summary?.title ?? null };
  }

  private profileState(): FileState {
    const { state } = this.open.navigation;
    if (state.kind === "open") {
      return state.source.files.includes(this.file) ? { kind: "open" } : { kind: "left", other: state.opened.title };
    }
    const own = state.kind !== "empty" && state.title === titleOf({ files: [this.file], against: [] });
    if (!own) {
      return { kind: "left", other: null };
    }
    return state.kind === "opening" ? { kind: "opening" } : { kind: "trouble", text: state.text };
  }
}
