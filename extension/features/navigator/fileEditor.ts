/**
 * Files that a double click opens. A trace and transactions are shown in the tab itself; the results of other profiles
 * stand beside the code and in their views, and the tab says so.
 */
import { readdir } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { customEditors } from "../../core/menus";
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
import type { Session } from "../causal/session";
import type { Engine } from "../editor/engine";
import { TablePanel } from "../editor/tablePanel";
import type { Traces } from "../trace/traces";
import type { Transactions } from "../transactions/transactions";
import { type Navigation, titleOf } from "./navigation";

/** What shows files in their own tab. */
interface Viewers {
  traces: Traces;
  transactions: Transactions;
}

export class FileEditors implements vscode.Disposable, vscode.CustomReadonlyEditorProvider {
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly engine: Engine,
    private readonly session: Session,
    private readonly navigation: Navigation,
    private readonly viewers: Viewers,
    private readonly extensionUri: vscode.Uri,
  ) {
    this.subscriptions = customEditors.map(({ viewType }) =>
      vscode.window.registerCustomEditorProvider(viewType, this, {
        webviewOptions: { retainContextWhenHidden: true },
        supportsMultipleEditorsPerDocument: true,
      }),
    );
  }

  dispose(): void {
    for (const subscription of this.subscriptions) {
      subscription.dispose();
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
    const shown = new FilePanel(this.engine, this.extensionUri, panel, uri, kind, {
      session: this.session,
      navigation: this.navigation,
    });
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

/** The tab of one file whose results stand elsewhere. */
class FilePanel extends TablePanel<ToFile, FromFile> {
  private readonly file: string;
  private readonly listening: vscode.Disposable;
  /** Until the page has said whether it is a new one. */
  private begun = false;
  /** Of a causal profile: being opened, or why it could not be. */
  private opening = false;
  private trouble: string | undefined;

  constructor(
    engine: Engine,
    extensionUri: vscode.Uri,
    panel: vscode.WebviewPanel,
    private readonly uri: vscode.Uri,
    private readonly kind: FileKind,
    private readonly open: { session: Session; navigation: Navigation },
  ) {
    super(engine, extensionUri, panel, "file", fileHtml);
    this.file = kind === "causal" ? runFolderOf(uri.fsPath) : uri.fsPath;
    this.listening = vscode.Disposable.from(
      open.session.onDidChangeResults(() => this.show()),
      open.navigation.onDidChange(() => this.show()),
    );
    this.page.remember({ file: this.file });
    this.show();
  }

  override dispose(): void {
    super.dispose();
    this.listening.dispose();
  }

  protected override async answer(message: Exclude<FromFile, { type: "ready" }>): Promise<void> {
    if (message.type === "begin") {
      this.begun = true;
      // A tab that is drawn anew opens nothing: something else may be open by now.
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
      await this.open.session.open(this.file);
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
    const { summary } = this.open.session;
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
