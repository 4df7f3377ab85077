/**
 * Colours of a timeline: those of the theme. States differ in height and pattern too, so
 * that colour is never the only sign.
 */

import type { EventsState } from "../engine/protocol";
import { hash } from "../hash";
import type { ReadColour, ThemeKind } from "../themeColours";

export interface TraceTheme {
  background: string;
  text: string;
  quiet: string;
  line: string;
  /** Around every call; null: a gap does. */
  border: string | null;
  /** Around what is chosen. */
  focus: string;
  match: string;
  collection: string;
  states: Readonly<Record<EventsState, string>>;
  /** Calls, by the hash of their names. */
  calls: readonly string[];
}

/** With the colours of the theme that the editor has now. */
export function traceTheme(kind: ThemeKind, read: ReadColour): TraceTheme {
  return {
    background: read("editor.background"),
    text: read("foreground"),
    quiet: read("descriptionForeground"),
    line: read("fulcrum.traceLine"),
    border: kind.startsWith("highContrast") ? read("fulcrum.traceLine") : null,
    focus: read("fulcrum.selectionBorder"),
    match: read("fulcrum.match"),
    collection: read("fulcrum.traceCollection"),
    states: {
      running: read("fulcrum.traceRunning"),
      contended: read("fulcrum.traceContended"),
      waiting: read("fulcrum.traceWaiting"),
      parked: read("fulcrum.traceParked"),
    },
    calls: calls.map(read),
  };
}

const calls = [
  ...(["fulcrum.traceCall1", "fulcrum.traceCall2", "fulcrum.traceCall3"] as const),
  ...(["fulcrum.traceCall4", "fulcrum.traceCall5", "fulcrum.traceCall6"] as const),
];

/** How high a state's bar is, a part of the lane's bar; and whether it is hatched. */
export const stateLooks: Readonly<Record<EventsState, { height: number; hatched: boolean; text: string }>> = {
  running: { height: 1, hatched: false, text: "running (solid: on a processor)" },
  contended: { height: 1, hatched: true, text: "contended" },
  waiting: { height: 0.45, hatched: false, text: "waiting" },
  parked: { height: 0.18, hatched: false, text: "parked" },
};

/** The same name has the same colour. */
export function callColour(theme: TraceTheme, name: string): string {
  return theme.calls[hash(name) % theme.calls.length] ?? theme.background;
}
