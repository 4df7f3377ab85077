/**
 * Colours of a timeline: Okabe and Ito's, which any colour vision tells apart. States differ in height and pattern too, so
 * that colour is never the only sign.
 */
import { hash } from "../hash";
import type { EventsState } from "../protocol";
import type { ThemeKind } from "../shapes";

export interface TraceTheme {
  background: string;
  text: string;
  quiet: string;
  line: string;
  /** Around what is chosen. */
  focus: string;
  match: string;
  gc: string;
  states: Readonly<Record<EventsState, string>>;
  /** Calls, by the hash of their names. */
  calls: readonly string[];
  onCalls: string;
}

const darkStates = { running: "#009e73", contended: "#e8601c", waiting: "#56b4e9", parked: "#8a9199" } as const;
const lightStates = { running: "#00805d", contended: "#c44a00", waiting: "#3a8fc4", parked: "#7b838b" } as const;

const dark: TraceTheme = {
  background: "#1f1f1f",
  text: "#d8dde2",
  quiet: "#9aa2aa",
  line: "#3b4046",
  focus: "#ffffff",
  match: "#f0e442",
  gc: "#cc79a7",
  states: darkStates,
  calls: ["#3c5a78", "#46607a", "#35566b", "#4a5876", "#3d6a76", "#53567c"],
  onCalls: "#f0f4f8",
};

const light: TraceTheme = {
  background: "#ffffff",
  text: "#2a3036",
  quiet: "#636c76",
  line: "#d5dade",
  focus: "#000000",
  match: "#b59b00",
  gc: "#a0447c",
  states: lightStates,
  calls: ["#c5d9ec", "#cfdcf0", "#bcd6e4", "#d3daee", "#c2e0e4", "#d8d8f0"],
  onCalls: "#14202b",
};

export const traceThemes: Readonly<Record<ThemeKind, TraceTheme>> = {
  dark,
  light,
  highContrast: {
    ...dark,
    background: "#000000",
    text: "#ffffff",
    quiet: "#ffffff",
    line: "#6fc3df",
    focus: "#f38518",
    states: { ...darkStates, parked: "#ffffff" },
    calls: ["#000000"],
    onCalls: "#ffffff",
  },
  highContrastLight: {
    ...light,
    text: "#000000",
    quiet: "#000000",
    line: "#0f4a85",
    focus: "#006bbd",
    states: { ...lightStates, parked: "#000000" },
    calls: ["#ffffff"],
    onCalls: "#000000",
  },
};

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
