/**
 * What the Navigator has open, as a pure state machine: `features/navigator/navigation.ts` asks the engine and reports what
 * happened; {@link reduce} decides what is shown then.
 */
import type { LongOptions } from "../engine/longRequest";
import type { NavigatorCommand, NavigatorNormalisation, NavigatorOpened, NavigatorView } from "../engine/protocol";
import { baseName } from "../text/format";
import type { NavigatorShown } from "./messages";
import { navigatorModel } from "./model";

/** What to open. Several files on a side are the runs of that side. */
export interface ProfileSource {
  files: string[];
  against: string[];
  value?: string;
  normalisation?: NavigatorNormalisation;
  /** Not files, but what another request derives from something that is open, such as a part of a trace. */
  derived?: DerivedProfile;
}

export interface DerivedProfile {
  title: string;
  /** A comparison of several observations on each side: rows say how certain they are. */
  spread?: boolean;
  /** Asked again when the engine was restarted. */
  open: (long: LongOptions) => Promise<NavigatorOpened>;
}

/** How an open profile is viewed, which is restored together with it. */
export interface ViewSettings extends Pick<NavigatorView, "value" | "suggester" | "zoom" | "cutoff"> {
  /** The current path, outermost function first; null: none. */
  path: string[] | null;
}

/** A command, or what computes it when its turn comes, from the view that all commands before it led to. */
export type PendingCommand = NavigatorCommand | ((view: NavigatorView) => NavigatorCommand | undefined);

/** Which engine opened a profile, and by which rules for names. */
export interface Origin {
  /** How often the engine had been restarted. Each engine numbers its profiles from the start. */
  engine: number;
  rules: string | null;
}

export interface OpenProfile {
  kind: "open";
  opened: NavigatorOpened;
  view: NavigatorView;
  source: ProfileSource;
  origin: Origin;
}

export type NavigationState =
  | { kind: "empty" }
  | { kind: "opening"; title: string; message: string; fraction: number | null }
  | { kind: "trouble"; title: string; text: string }
  | OpenProfile;

/** Everything that the Navigator knows. */
export interface Navigated {
  state: NavigationState;
  /** Shown again when opening something else fails or is cancelled. */
  before: OpenProfile | undefined;
  /** What was opened last, unless it was derived. */
  source: ProfileSource | undefined;
  /** How often the user asked for a profile. */
  opens: number;
  /** Attempts to open something, so far. */
  attempts: number;
  /** The attempt in progress, by its number. */
  attempt: number | undefined;
  /** Which profile's view settings are still being restored: until then they are not kept. */
  restoring: NavigatorOpened | undefined;
  /** Restarts of the engine. */
  engine: number;
}

export type NavigationEvent =
  /** Somebody opens a profile in place of what is open. */
  | { type: "open"; source: ProfileSource; by: "user" | "itself" }
  | { type: "progress"; attempt: number; message: string; fraction: number | null }
  | { type: "opened"; attempt: number; source: ProfileSource; opened: NavigatorOpened; origin: Origin }
  /** The view settings were restored, as far as possible. */
  | { type: "restored"; opened: NavigatorOpened }
  /** `text`: what went wrong; null: it was cancelled. */
  | { type: "failed"; attempt: number; title: string; text: string | null }
  /** An attempt is over, however it ended. */
  | { type: "ended"; attempt: number }
  /** A command was done. */
  | { type: "view"; id: number; view: NavigatorView }
  | { type: "closed" }
  | { type: "engineRestarted" }
  /** The window is closed: an attempt in progress is repeated when it comes back. */
  | { type: "left" };

export const nothingOpen: Navigated = {
  state: { kind: "empty" },
  before: undefined,
  source: undefined,
  opens: 0,
  attempts: 0,
  attempt: undefined,
  restoring: undefined,
  engine: 0,
};

/** What is known after an event. `state` is the same object unless something else is shown. */
export function reduce(now: Navigated, event: NavigationEvent): Navigated {
  switch (event.type) {
    case "open":
      return afterOpen(now, event);
    case "progress":
      return afterProgress(now, event);
    case "opened":
      return afterOpened(now, event);
    case "restored":
      return now.restoring === event.opened ? { ...now, restoring: undefined } : now;
    case "failed":
      return afterFailed(now, event);
    case "ended":
      return now.attempt === event.attempt ? { ...now, attempt: undefined } : now;
    case "view":
      return afterView(now, event);
    case "closed":
      return { ...now, state: { kind: "empty" }, before: undefined, source: undefined };
    case "engineRestarted":
      return {
        ...now,
        engine: now.engine + 1,
        state: now.state.kind === "open" ? { kind: "empty" } : now.state,
      };
    case "left":
      return { ...now, attempt: undefined };
  }
}

type Of<Type> = Extract<NavigationEvent, { type: Type }>;

function afterOpen(now: Navigated, { source, by }: Of<"open">): Navigated {
  const attempt = now.attempts + 1;
  return {
    ...now,
    state: { kind: "opening", title: titleOf(source), message: "", fraction: null },
    before: now.state.kind === "open" ? now.state : now.before,
    source: source.derived === undefined ? source : undefined,
    opens: now.opens + (by === "user" ? 1 : 0),
    attempts: attempt,
    attempt,
  };
}

function afterProgress(now: Navigated, { attempt, message, fraction }: Of<"progress">): Navigated {
  return now.attempt === attempt && now.state.kind === "opening"
    ? { ...now, state: { ...now.state, message, fraction } }
    : now;
}

function afterOpened(now: Navigated, { attempt, source, opened, origin }: Of<"opened">): Navigated {
  return now.attempt === attempt
    ? {
        ...now,
        state: { kind: "open", opened, view: opened.view, source, origin },
        before: undefined,
        restoring: opened,
      }
    : now;
}

function afterFailed(now: Navigated, { attempt, title, text }: Of<"failed">): Navigated {
  if (now.attempt !== attempt) {
    return now;
  }
  const { before } = now;
  if (before !== undefined) {
    const state: NavigationState = isAlive(now, before) ? before : { kind: "empty" };
    return { ...now, state, before: undefined };
  }
  return { ...now, state: text === null ? { kind: "empty" } : { kind: "trouble", title, text } };
}

function afterView(now: Navigated, { id, view }: Of<"view">): Navigated {
  const { state } = now;
  const isCurrent = state.kind === "open" && state.opened.id === id && view.revision >= state.view.revision;
  return isCurrent ? { ...now, state: { ...state, view } } : now;
}

/** Whether the engine that runs now opened the profile. What another one had open is gone with it. */
export function isAlive({ engine }: Navigated, { origin }: Pick<OpenProfile, "origin">): boolean {
  return origin.engine === engine;
}

/** The open profile, if any. */
export function openIn({ state }: Navigated): OpenProfile | undefined {
  return state.kind === "open" ? state : undefined;
}

/** The view settings to keep for the next window: `undefined` while they must stay as they are. */
export function settingsToKeep(now: Navigated): { settings: ViewSettings | undefined } | undefined {
  const open = openIn(now);
  if (open === undefined || open.opened === now.restoring) {
    return undefined;
  }
  return { settings: open.source.derived === undefined ? settingsOf(open.view) : undefined };
}

export function settingsOf({ value, suggester, zoom, cutoff, current }: NavigatorView): ViewSettings {
  return { value, suggester, zoom, cutoff, path: current?.frames.map((frame) => frame.name) ?? null };
}

/** The commands that bring a profile to how it was viewed; without settings, to what the suggester says. */
export function commandsTo(settings: ViewSettings | undefined): PendingCommand[] {
  if (settings === undefined) {
    return [{ kind: "suggest" }];
  }
  const { value, suggester, zoom, cutoff, path } = settings;
  return [
    (now) => (now.value === value ? undefined : { kind: "value", name: value }),
    (now) => (now.suggester === suggester ? undefined : { kind: "setSuggester", suggester }),
    (now) => (now.zoom === zoom ? undefined : { kind: "setZoom", on: zoom }),
    (now) => (now.cutoff === cutoff ? undefined : { kind: "setCutoff", cutoff }),
    path === null ? { kind: "suggest" } : { kind: "selectPath", path },
  ];
}

/** The context keys that menus and keybindings depend on. */
export function contextKeys(state: NavigationState): Record<string, boolean> {
  const open = state.kind === "open" ? state : undefined;
  const view = open?.view;
  return {
    "fulcrum.navigating": view !== undefined,
    "fulcrum.navigator.path": view?.current != null,
    "fulcrum.navigator.long": (view?.current?.frames.length ?? 0) > 1,
    "fulcrum.navigator.labelled": (view?.current?.labels.length ?? 0) > 0,
    "fulcrum.navigator.labels": (view?.labels.length ?? 0) > 0,
    "fulcrum.navigator.back": (view?.history.at ?? 0) > 0,
    "fulcrum.navigator.forward": view !== undefined && (view.history.at ?? -1) + 1 < view.history.count,
    "fulcrum.navigator.tree": open !== undefined && open.opened.kind !== "graph",
    "fulcrum.navigator.file": open !== undefined && open.source.derived === undefined,
    "fulcrum.navigator.values": open !== undefined && open.opened.valueTypes.length > 1,
  };
}

/** What the Navigator's page shows. `last`: what was opened last in this workspace. */
export function navigatorShown(state: NavigationState, last: ProfileSource | undefined): NavigatorShown {
  switch (state.kind) {
    case "open": {
      const { files, against, derived } = state.source;
      const severalRuns = derived?.spread === true || (files.length > 1 && against.length > 1);
      return { kind: "open", model: navigatorModel(state.opened, state.view, severalRuns) };
    }
    case "empty":
      return { kind: "empty", again: last === undefined ? null : titleOf(last) };
    case "trouble":
      return { ...state, again: last !== undefined };
    case "opening":
      return state;
  }
}

/** `after.pb.gz`, `after.pb.gz − before.pb.gz`, `3 files − 3 files`. */
export function titleOf({ files, against, derived }: ProfileSource): string {
  if (derived !== undefined) {
    return derived.title;
  }
  const side = (paths: readonly string[]) => (paths.length === 1 ? baseName(paths[0] ?? "") : `${paths.length} files`);
  return against.length === 0 ? side(files) : `${side(files)} − ${side(against)}`;
}
