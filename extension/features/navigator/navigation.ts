/** The open profile of the Navigator: opened, searched by commands, and opened again when the engine was started anew. */
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { InOrder } from "../../core/engine/inOrder";
import type { LongOptions } from "../../core/engine/longRequest";
import {
  type NavigatorAutomatic,
  type NavigatorCommand,
  type NavigatorNormalisation,
  type NavigatorOpened,
  type NavigatorRow,
  type NavigatorStep,
  type NavigatorView,
  requests,
} from "../../core/engine/protocol";
import { baseName } from "../../core/text/format";
import type { Engine } from "../editor/engine";
import { folderOf } from "../editor/folders";
import { shownRequest } from "../editor/longRequest";
import * as messages from "../editor/messages";
import { rulesFor } from "./nameRules";

/** What to open. Several files on a side are the runs of that side. */
export interface ProfileSource {
  files: string[];
  against: string[];
  value?: string;
  normalisation?: NavigatorNormalisation;
  /** Not files, but what another request makes of something that is open: a part of a trace. */
  made?: Made;
}

/** How an open profile is looked at: what comes back with it. */
interface Look extends Pick<NavigatorView, "value" | "suggester" | "zoom" | "cutoff"> {
  /** The current path, outermost function first; null: none. */
  path: string[] | null;
}

export interface Made {
  title: string;
  /** A comparison of several observations on each side: rows say how certain they are. */
  spread?: boolean;
  /** Asked again when the engine was restarted. */
  open: (long: LongOptions) => Promise<NavigatorOpened>;
}

export type NavigationState =
  | { kind: "empty" }
  | { kind: "opening"; title: string; message: string; fraction: number | null }
  | { kind: "trouble"; title: string; text: string }
  | { kind: "open"; opened: NavigatorOpened; view: NavigatorView; source: ProfileSource };

/** A command, or what it is once it is its turn: then the view is what all before it lead to. `undefined`: nothing to do. */
export type Wanted = NavigatorCommand | ((view: NavigatorView) => NavigatorCommand | undefined);

const rememberedKey = "fulcrum.navigator";
/** Kept as long as what is remembered is open. */
const lookKey = "fulcrum.navigator.look";
/** LSP's codes: the content was modified; the request was cancelled. */
const contentModified = -32801;

export class Navigation implements vscode.Disposable {
  private current: NavigationState = { kind: "empty" };
  /** What shows again when opening something else fails. */
  private before: NavigationState = { kind: "empty" };
  private wanted: ProfileSource | undefined;
  private opening: vscode.CancellationTokenSource | undefined;
  private openCount = 0;
  private restored: Promise<boolean> | undefined;
  private keptLook: string | undefined;
  /** What is brought to how it was looked at: until then that is not kept. */
  private beginning: NavigatorOpened | undefined;
  /** How often the engine was started anew. Each begins its numbers again. */
  private engines = 0;
  private readonly madeBy = new WeakMap<NavigatorOpened, { engine: number; rules: string | null }>();
  /** Keys and clicks may come faster than answers. */
  private readonly order = new InOrder();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  /** The state, or the view within it. */
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engine: Engine,
    private readonly memory: vscode.Memento,
  ) {
    this.subscriptions = [
      this.changed,
      engine.onDidRestart(() => {
        this.engines += 1;
        void this.reopen();
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("fulcrum.profile.names")) {
          void this.renamed();
        }
      }),
    ];
  }

  get state(): NavigationState {
    return this.current;
  }

  /** The open profile, if any. */
  get open(): Extract<NavigationState, { kind: "open" }> | undefined {
    return this.current.kind === "open" ? this.current : undefined;
  }

  /** How often a profile was asked for. */
  get opens(): number {
    return this.openCount;
  }

  /** What was opened last in this workspace. */
  get remembered(): ProfileSource | undefined {
    return this.wanted ?? this.memory.get<ProfileSource>(rememberedKey);
  }

  dispose(): void {
    // What is being opened when the window is left is opened again when it comes back.
    const opening = this.opening;
    this.opening = undefined;
    opening?.cancel();
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** Opens profiles in place of what is open. True when they are; a message says why not. */
  openSource(source: ProfileSource): Promise<boolean> {
    this.openCount += 1;
    return this.openAt(source);
  }

  /**
   * Opens what was open when the window was left, and how it was looked at. Only once, and not when something was opened
   * since. A failure is shown in the view alone: nobody asked now.
   */
  restore(): Promise<boolean> {
    this.restored ??= this.openLast();
    return this.restored;
  }

  private async openLast(): Promise<boolean> {
    const source = this.memory.get<ProfileSource>(rememberedKey);
    const look = this.memory.get<Look>(lookKey);
    if (this.current.kind !== "empty" || source === undefined || look === undefined) {
      return false;
    }
    return this.openAt(source, look, true);
  }

  private async openAt(source: ProfileSource, before?: Look, quiet = false): Promise<boolean> {
    this.opening?.cancel();
    const opening = new vscode.CancellationTokenSource();
    this.opening = opening;
    this.wanted = source.made === undefined ? source : undefined;
    if (this.current.kind === "open") {
      this.before = this.current;
    }
    const title = titleOf(source);
    this.set({ kind: "opening", title, message: "", fraction: null });
    try {
      const opened = await this.request(source, title, opening.token);
      if (this.opening !== opening) {
        await this.forget(opened);
        return false;
      }
      const left = this.before;
      this.before = { kind: "empty" };
      this.beginning = opened;
      this.set({ kind: "open", opened, view: opened.view, source });
      // Now, so that no key comes before it.
      const begun = this.begin(opened, before, quiet);
      if (source.made === undefined) {
        await this.memory.update(rememberedKey, source);
      }
      if (left.kind === "open") {
        await this.forget(left.opened);
      }
      await begun;
      await this.renamed();
      return true;
    } catch (error) {
      if (this.opening === opening) {
        this.failed(title, error, quiet);
      }
      return false;
    } finally {
      if (this.opening === opening) {
        this.opening = undefined;
      }
      opening.dispose();
    }
  }

  cancel(): void {
    this.opening?.cancel();
  }

  async close(): Promise<void> {
    const left = this.open;
    this.opening?.cancel();
    this.wanted = undefined;
    this.before = { kind: "empty" };
    this.set({ kind: "empty" });
    this.keep(undefined);
    if (left !== undefined) {
      await this.forget(left.opened);
    }
  }

  /**
   * Does a command when all before it are done, and shows what it gives. False when there is nothing to do, when another
   * profile was opened meanwhile, or when it failed, which a message says.
   */
  do(wanted: Wanted): Promise<boolean> {
    return this.together((act) => act(wanted));
  }

  /** Several commands with no other between them. */
  async together<T>(work: (act: (wanted: Wanted) => Promise<boolean>) => Promise<T>): Promise<T> {
    const id = this.open?.opened.id;
    return this.order.do(() => work((wanted) => this.act(id, wanted)));
  }

  private async act(id: number | undefined, wanted: Wanted, quiet = false): Promise<boolean> {
    const open = this.open;
    if (open === undefined || open.opened.id !== id) {
      return false;
    }
    const command = typeof wanted === "function" ? wanted(open.view) : wanted;
    if (command === undefined) {
      return false;
    }
    try {
      const view = await this.engine.request(requests.NavigatorDo, { id, command });
      const now = this.open;
      if (now?.opened.id === id && view.revision >= now.view.revision) {
        this.set({ ...now, view });
        for (const note of view.notes) {
          this.engine.log.warn(note);
        }
      }
      return true;
    } catch (error) {
      if (quiet) {
        this.engine.log.warn(`The Navigator (${command.kind}): ${troubleText(troubleOf(error))}`);
        return false;
      }
      // The message may stand there for long; the next key must not wait for it.
      void messages.showTrouble(this.engine.log, `The Navigator (${command.kind})`, error);
      return false;
    }
  }

  /** Rows of the view of this revision; undefined when it is not the current one any more. */
  async rows(
    revision: number,
    step: NavigatorStep,
    from: number,
    count: number,
  ): Promise<readonly NavigatorRow[] | undefined> {
    const open = this.open;
    if (open === undefined || open.view.revision !== revision) {
      return undefined;
    }
    try {
      const { rows } = await this.engine.request(requests.NavigatorGetRows, {
        id: open.opened.id,
        revision,
        step,
        from,
        count,
      });
      return rows;
    } catch (error) {
      if ((error as { code?: unknown }).code !== contentModified) {
        this.engine.log.warn(`Rows of the Navigator could not be fetched: ${troubleText(troubleOf(error))}`);
      }
      return undefined;
    }
  }

  /**
   * The automatic search. Quick ones pass without a word; a longer one shows how far it is and can be cancelled. Undefined
   * when it was cancelled or failed, which a message says.
   */
  async automatic(): Promise<NavigatorAutomatic | undefined> {
    const open = this.open;
    if (open === undefined) {
      return undefined;
    }
    try {
      const params = { id: open.opened.id, count: null, coverage: null };
      return await shownRequest(this.engine, requests.NavigatorSearch, params, {
        title: "Finding bottlenecks",
        onCancel: "drop",
        after: 500,
      });
    } catch (error) {
      void messages.showTrouble(this.engine.log, "Finding bottlenecks", error);
      return undefined;
    }
  }

  private async request(
    source: ProfileSource,
    title: string,
    token: vscode.CancellationToken,
  ): Promise<NavigatorOpened> {
    const rules = rulesOf(source);
    const long: LongOptions = {
      token,
      onCancel: "drop",
      report: ({ message = "", percentage }) => {
        if (this.current.kind === "opening") {
          this.set({ kind: "opening", title, message, fraction: percentage === undefined ? null : percentage / 100 });
        }
      },
    };
    const { made, ...files } = source;
    const workspace = folderOf(source.files[0] ?? "") ?? null;
    const opened =
      made === undefined
        ? await this.engine.long(requests.NavigatorOpen, { ...files, names: rules, workspace }, long)
        : await made.open(long);
    this.madeBy.set(opened, { engine: this.engines, rules });
    return opened;
  }

  /** Where the search begins: as it was before, else with what the suggester says. */
  private begin(opened: NavigatorOpened, before: Look | undefined, quiet: boolean): Promise<void> {
    return this.order.do(async () => {
      const act = (wanted: Wanted) => this.act(opened.id, wanted, quiet);
      if (before !== undefined) {
        const { value, suggester, zoom, cutoff } = before;
        await act((now) => (now.value === value ? undefined : { kind: "value", name: value }));
        await act((now) => (now.suggester === suggester ? undefined : { kind: "setSuggester", suggester }));
        await act((now) => (now.zoom === zoom ? undefined : { kind: "setZoom", on: zoom }));
        await act((now) => (now.cutoff === cutoff ? undefined : { kind: "setCutoff", cutoff }));
      }
      const path = before?.path ?? null;
      await act(path === null ? { kind: "suggest" } : { kind: "selectPath", path });
      if (this.beginning === opened) {
        this.beginning = undefined;
        this.keepLook();
      }
    });
  }

  private failed(title: string, error: unknown, quiet: boolean): void {
    const trouble = troubleOf(error);
    const before = this.before;
    this.before = { kind: "empty" };
    if (trouble.cancelled || this.opening?.token.isCancellationRequested) {
      this.comeBack(before);
      return;
    }
    const text = troubleText(trouble);
    this.engine.log.error(`Opening ${title}: ${text}`);
    if (before.kind === "open") {
      this.comeBack(before);
    } else {
      this.set({ kind: "trouble", title, text });
    }
    if (quiet) {
      this.keep(undefined);
      return;
    }
    // Whoever waits for the profile does not wait until the message is closed.
    void this.offerAnother(title, error);
  }

  /** What was open before is there again; of an engine that is gone it has to be opened again. */
  private comeBack(before: NavigationState): void {
    if (before.kind !== "open") {
      this.set(before);
      this.keep(undefined);
    } else if (this.madeBy.get(before.opened)?.engine === this.engines) {
      this.set(before);
    } else {
      this.set({ kind: "empty" });
      void this.openAt(before.source, lookOf(before.view));
    }
  }

  private async offerAnother(title: string, error: unknown): Promise<void> {
    const another = "Open Another…";
    if ((await messages.showTrouble(this.engine.log, `Opening ${title}`, error, another)) === another) {
      await vscode.commands.executeCommand("fulcrum.profile.open");
    }
  }

  /** Of an engine that is gone there is nothing to forget, and its number may be another profile's now. */
  private async forget(opened: NavigatorOpened): Promise<void> {
    if (this.madeBy.get(opened)?.engine !== this.engines) {
      return;
    }
    try {
      await this.engine.request(requests.NavigatorClose, { id: opened.id });
    } catch (error) {
      this.engine.log.debug(`Closing a navigator: ${troubleText(troubleOf(error))}`);
    }
  }

  /** A new engine knows nothing. Labels come back by themselves; the current path and how it is looked at are given again. */
  private async reopen(): Promise<void> {
    const open = this.open;
    if (open === undefined) {
      return;
    }
    this.set({ kind: "empty" });
    if (await this.openAt(open.source, lookOf(open.view))) {
      this.engine.log.info(`Opened ${open.opened.title} again.`);
    }
  }

  /** Other rules give other names: it is another profile of the same files, without a path to go back to. */
  private async renamed(): Promise<void> {
    const open = this.open;
    if (open !== undefined && this.madeBy.get(open.opened)?.rules !== rulesOf(open.source)) {
      await this.openAt({ ...open.source }, { ...lookOf(open.view), path: null });
    }
  }

  private set(state: NavigationState): void {
    this.current = state;
    this.keepLook();
    const view = state.kind === "open" ? state.view : undefined;
    const keys = {
      "fulcrum.navigating": view !== undefined,
      "fulcrum.navigator.path": view?.current != null,
      "fulcrum.navigator.long": (view?.current?.frames.length ?? 0) > 1,
      "fulcrum.navigator.labelled": (view?.current?.labels.length ?? 0) > 0,
      "fulcrum.navigator.labels": (view?.labels.length ?? 0) > 0,
      "fulcrum.navigator.back": (view?.history.at ?? 0) > 0,
      "fulcrum.navigator.forward": view !== undefined && (view.history.at ?? -1) + 1 < view.history.count,
      "fulcrum.navigator.tree": state.kind === "open" && state.opened.kind !== "graph",
      "fulcrum.navigator.file": state.kind === "open" && state.source.made === undefined,
      "fulcrum.navigator.values": state.kind === "open" && state.opened.valueTypes.length > 1,
    };
    for (const [key, value] of Object.entries(keys)) {
      if (this.contexts.get(key) !== value) {
        this.contexts.set(key, value);
        void vscode.commands.executeCommand("setContext", key, value);
      }
    }
    this.changed.fire();
  }

  private readonly contexts = new Map<string, boolean>();

  private keepLook(): void {
    const open = this.open;
    if (open !== undefined && open.opened !== this.beginning) {
      this.keep(open.source.made === undefined ? lookOf(open.view) : undefined);
    }
  }

  private keep(look: Look | undefined): void {
    const text = JSON.stringify(look) ?? "";
    if (text !== this.keptLook) {
      this.keptLook = text;
      void this.memory.update(lookKey, look);
    }
  }
}

/** The rules for the names in files. What another request makes has none. */
function rulesOf(source: ProfileSource): string | null {
  return source.made === undefined ? rulesFor(source.files[0] ?? "") : null;
}

function lookOf({ value, suggester, zoom, cutoff, current }: NavigatorView): Look {
  return { value, suggester, zoom, cutoff, path: current?.frames.map((frame) => frame.name) ?? null };
}

/** `after.pb.gz`, `after.pb.gz − before.pb.gz`, `3 files − 3 files`. */
export function titleOf(source: ProfileSource): string {
  if (source.made !== undefined) {
    return source.made.title;
  }
  const side = (files: readonly string[]) => (files.length === 1 ? baseName(files[0] ?? "") : `${files.length} files`);
  return source.against.length === 0 ? side(source.files) : `${side(source.files)} − ${side(source.against)}`;
}
