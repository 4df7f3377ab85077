/**
 * The Navigator's profile: opens it, sends it commands, and opens it again when the engine was restarted. What is shown
 * meanwhile is decided in `core/navigator/navigationState.ts`.
 */
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { InOrder } from "../../core/engine/inOrder";
import type { LongOptions } from "../../core/engine/longRequest";
import { type NavigatorOpened, requests } from "../../core/engine/protocol";
import {
  commandsTo,
  contextKeys,
  isAlive,
  type Navigated,
  type NavigationEvent,
  type NavigationState,
  nothingOpen,
  type OpenProfile,
  type Origin,
  openIn,
  type PendingCommand,
  type ProfileSource,
  reduce,
  settingsOf,
  settingsToKeep,
  titleOf,
  type ViewSettings,
} from "../../core/navigator/navigationState";
import { Owner } from "../../core/owner";
import type { Engine } from "../editor/engine";
import { folderOf } from "../editor/folders";
import * as messages from "../editor/messages";
import { rulesFor } from "./nameRules";

const rememberedKey = "fulcrum.navigator";
/** Kept as long as what is remembered is open. */
const settingsKey = "fulcrum.navigator.look";
/** How to open a profile. */
interface Opening {
  source: ProfileSource;
  by: "user" | "itself";
  /** How it was viewed before. */
  settings?: ViewSettings;
  /** Where a failure is reported: in a message, or only in the view and the log. */
  failure: "message" | "view";
}

/** Does a command. False when there was nothing to do, or when it failed. */
type Act = (command: PendingCommand) => Promise<boolean>;

export class Navigation extends Owner {
  private now: Navigated = nothingOpen;
  /** Cancels the attempt in progress. */
  private cancelling: vscode.CancellationTokenSource | undefined;
  private restored: Promise<boolean> | undefined;
  private keptSettings: string | undefined;
  /** Keys and clicks may come faster than answers. */
  private readonly order = new InOrder();
  private readonly contexts = new Map<string, boolean>();
  private readonly changed = this.own(new vscode.EventEmitter<void>());
  /** The state changed, or the view within it. */
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engine: Engine,
    private readonly memory: vscode.Memento,
  ) {
    super();
    this.ownAll(
      engine.onDidRestart(() => void this.reopen()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("fulcrum.profile.names")) {
          void this.followRules();
        }
      }),
    );
  }

  get state(): NavigationState {
    return this.now.state;
  }

  /** The open profile, if any. */
  get open(): OpenProfile | undefined {
    return openIn(this.now);
  }

  /** How often the user asked for a profile. */
  get opens(): number {
    return this.now.opens;
  }

  /** What was opened last in this workspace. */
  get remembered(): ProfileSource | undefined {
    return this.now.source ?? this.memory.get<ProfileSource>(rememberedKey);
  }

  override dispose(): void {
    this.dispatch({ type: "left" });
    this.cancelling?.cancel();
    super.dispose();
  }

  /** Opens profiles in place of what is open. True when they are open; else a message says why not. */
  openSource(source: ProfileSource): Promise<boolean> {
    return this.openAs({ source, by: "user", failure: "message" });
  }

  /**
   * Opens what was open when the window was closed, viewed as it was. Only once, and not when something was opened since.
   * A failure is shown in the view alone, because nobody asked.
   */
  restore(): Promise<boolean> {
    this.restored ??= this.openLast();
    return this.restored;
  }

  /** Cancels what is being opened. */
  cancel(): void {
    this.cancelling?.cancel();
  }

  async close(): Promise<void> {
    const { open } = this;
    this.cancelling?.cancel();
    this.dispatch({ type: "closed" });
    this.keep(undefined);
    if (open !== undefined) {
      await this.forget(open);
    }
  }

  /**
   * Does a command after all those before it, and shows the result. False when there is nothing to do, when another
   * profile was opened meanwhile, or when it failed, which a message says.
   */
  do(command: PendingCommand): Promise<boolean> {
    return this.together((act) => act(command));
  }

  /** Does several commands with no other between them. */
  async together<T>(work: (act: Act) => Promise<T>): Promise<T> {
    const id = this.open?.opened.id;
    return this.order.do(() => work((command) => this.act(id, command, "message")));
  }

  private async openLast(): Promise<boolean> {
    const source = this.memory.get<ProfileSource>(rememberedKey);
    const settings = this.memory.get<ViewSettings>(settingsKey);
    if (this.state.kind !== "empty" || source === undefined || settings === undefined) {
      return false;
    }
    return this.openAs({ source, by: "itself", settings, failure: "view" });
  }

  private async openAs(opening: Opening): Promise<boolean> {
    const { source, by } = opening;
    this.cancelling?.cancel();
    const cancelling = new vscode.CancellationTokenSource();
    this.cancelling = cancelling;
    this.dispatch({ type: "open", source, by });
    const attempt = this.now.attempts;
    try {
      return await this.attempt(opening, attempt, cancelling.token);
    } catch (error) {
      if (this.now.attempt === attempt) {
        this.fail(opening, attempt, error);
      }
      return false;
    } finally {
      this.dispatch({ type: "ended", attempt });
      if (this.cancelling === cancelling) {
        this.cancelling = undefined;
      }
      cancelling.dispose();
    }
  }

  /** False when something else was opened meanwhile. */
  private async attempt(opening: Opening, attempt: number, token: vscode.CancellationToken): Promise<boolean> {
    const { source } = opening;
    const rules = rulesOf(source);
    const opened = await this.request(source, rules, {
      token,
      onCancel: "drop",
      report: ({ message = "", percentage }) => {
        const fraction = percentage === undefined ? null : percentage / 100;
        this.dispatch({ type: "progress", attempt, message, fraction });
      },
    });
    const profile = { opened, origin: { engine: this.now.engine, rules } };
    if (this.now.attempt !== attempt) {
      await this.forget(profile);
      return false;
    }
    const { before } = this.now;
    this.dispatch({ type: "opened", attempt, source, ...profile });
    // Queued now, so that no key comes before it.
    const begun = this.begin(opened, opening);
    if (source.derived === undefined) {
      await this.memory.update(rememberedKey, source);
    }
    if (before !== undefined) {
      await this.forget(before);
    }
    await begun;
    await this.followRules();
    return true;
  }

  private request(source: ProfileSource, rules: string | null, long: LongOptions): Promise<NavigatorOpened> {
    const { derived, ...files } = source;
    if (derived !== undefined) {
      return derived.open(long);
    }
    const workspace = folderOf(source.files[0] ?? "") ?? null;
    return this.engine.long(requests.NavigatorOpen, { ...files, names: rules, workspace }, long);
  }

  /** Views the profile as before, or as the suggester says. */
  private begin(opened: NavigatorOpened, { settings, failure }: Opening): Promise<void> {
    return this.order.do(async () => {
      for (const command of commandsTo(settings)) {
        await this.act(opened.id, command, failure);
      }
      this.dispatch({ type: "restored", opened });
    });
  }

  private async act(id: number | undefined, pending: PendingCommand, failure: Opening["failure"]): Promise<boolean> {
    const { open } = this;
    if (open === undefined || id === undefined || open.opened.id !== id) {
      return false;
    }
    const command = typeof pending === "function" ? pending(open.view) : pending;
    if (command === undefined) {
      return false;
    }
    try {
      const view = await this.engine.request(requests.NavigatorDo, { id, command });
      const { state } = this;
      this.dispatch({ type: "view", id, view });
      if (state !== this.state) {
        for (const note of view.notes) {
          this.engine.log.warn(note);
        }
      }
      return true;
    } catch (error) {
      const doing = `The Navigator (${command.kind})`;
      if (failure === "view") {
        this.engine.log.warn(`${doing}: ${troubleText(troubleOf(error))}`);
      } else {
        // The message may stay for long; the next key must not wait for it.
        void messages.showTrouble(this.engine.log, doing, error);
      }
      return false;
    }
  }

  private fail({ source, failure }: Opening, attempt: number, error: unknown): void {
    const title = titleOf(source);
    const trouble = troubleOf(error);
    const isCancelled = trouble.cancelled || this.cancelling?.token.isCancellationRequested === true;
    const text = isCancelled ? null : troubleText(trouble);
    if (text !== null) {
      this.engine.log.error(`Opening ${title}: ${text}`);
    }
    const { before } = this.now;
    this.dispatch({ type: "failed", attempt, title, text });
    if (before !== undefined && !isAlive(this.now, before)) {
      void this.openAs({ source: before.source, by: "itself", settings: settingsOf(before.view), failure: "message" });
    } else if (before === undefined && isCancelled) {
      this.keep(undefined);
    }
    if (text !== null && failure === "view") {
      this.keep(undefined);
    } else if (text !== null) {
      // Whoever waits for the profile does not wait until the message is closed.
      void this.offerAnother(title, error);
    }
  }

  private async offerAnother(title: string, error: unknown): Promise<void> {
    const another = "Open Another…";
    if ((await messages.showTrouble(this.engine.log, `Opening ${title}`, error, another)) === another) {
      await vscode.commands.executeCommand("fulcrum.profile.open");
    }
  }

  /** Closes a profile in the engine, unless that engine is gone: its number may be another profile's now. */
  private async forget(profile: { opened: NavigatorOpened; origin: Origin }): Promise<void> {
    if (!isAlive(this.now, profile)) {
      return;
    }
    try {
      await this.engine.request(requests.NavigatorClose, { id: profile.opened.id });
    } catch (error) {
      this.engine.log.debug(`Closing a navigator: ${troubleText(troubleOf(error))}`);
    }
  }

  /** A new engine knows nothing. It finds the labels itself; the current path and the view settings are sent again. */
  private async reopen(): Promise<void> {
    const { open } = this;
    this.dispatch({ type: "engineRestarted" });
    if (open === undefined) {
      return;
    }
    const { source, view, opened } = open;
    if (await this.openAs({ source, by: "itself", settings: settingsOf(view), failure: "message" })) {
      this.engine.log.info(`Opened ${opened.title} again.`);
    }
  }

  /** Other rules give other names. They make another profile of the same files, without a path to go back to. */
  private async followRules(): Promise<void> {
    const { open } = this;
    if (open !== undefined && open.origin.rules !== rulesOf(open.source)) {
      const settings = { ...settingsOf(open.view), path: null };
      await this.openAs({ source: { ...open.source }, by: "itself", settings, failure: "message" });
    }
  }

  private dispatch(event: NavigationEvent): void {
    const { state } = this;
    this.now = reduce(this.now, event);
    const kept = settingsToKeep(this.now);
    if (kept !== undefined) {
      this.keep(kept.settings);
    }
    if (state !== this.state) {
      this.publishContexts();
      this.changed.fire();
    }
  }

  private publishContexts(): void {
    for (const [key, value] of Object.entries(contextKeys(this.state))) {
      if (this.contexts.get(key) !== value) {
        this.contexts.set(key, value);
        void vscode.commands.executeCommand("setContext", key, value);
      }
    }
  }

  private keep(settings: ViewSettings | undefined): void {
    const text = JSON.stringify(settings) ?? "";
    if (text !== this.keptSettings) {
      this.keptSettings = text;
      void this.memory.update(settingsKey, settings);
    }
  }
}

/** The rules for the names in files. A derived profile has none. */
function rulesOf(source: ProfileSource): string | null {
  return source.derived === undefined ? rulesFor(source.files[0] ?? "") : null;
}
