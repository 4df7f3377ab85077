/** The Navigator's keys, as its list of keys shows them. The manifest binds them, and a test compares both. */

export interface NavigatorKey {
  command: string;
  /** As in the manifest's keybindings. */
  key: string;
  what: string;
}

const all: readonly (readonly [command: string, key: string, what: string])[] = [
  ["suggest", "s", "List the suggester's starting paths"],
  ["toggleSuggester", "u", "Change the suggester: HighCum from the top, HighBase from the bottom"],
  ["find", "/", "Find functions by part of their names"],
  ["extendTop", "e", "Extend by the most costly caller"],
  ["extendBottom", "d", "Extend by the most costly callee"],
  ["trimTop", "t", "Trim the first frame"],
  ["trimBottom", "shift+t", "Trim the last frame"],
  ["nearby", "n", "List what is near the current path"],
  ["label", "l", "Label the current path"],
  ["unlabel", "shift+l", "Remove a label from the current path"],
  ["back", "backspace", "Back to the path before"],
  ["forward", "shift+backspace", "Forward again"],
  ["toggleZoom", "z", "Zoom: leave out what costs little"],
  ["cutoff", "c", "Set what zooming keeps"],
  ["openSource", "o", "Open the source of the last frame"],
  ["flameGraph", "g", "Flame graph of the whole profile"],
  ["flamePath", "m", "Flame graph of this path, merged over all its contexts"],
  ["findBottlenecks", "b", "Find bottlenecks automatically"],
  ["value", "v", "Choose the value type"],
  ["report", "r", "Export the labels as Markdown"],
  ["keys", "shift+/", "Show this list"],
];

export const navigatorKeys: readonly NavigatorKey[] = all.map(([command, key, what]) => ({
  command: `fulcrum.navigator.${command}`,
  key,
  what,
}));

const leaving = ["openSource", "flameGraph", "flamePath", "report"].map((name) => `fulcrum.navigator.${name}`);

/** Whether a key's command shows something beside the Navigator, which then has the focus. */
export function leavesNavigator(command: string): boolean {
  return leaving.includes(command);
}

/** `shift+t` → `⇧T`, `backspace` → `⌫`. */
export function keyText(key: string): string {
  const names: Record<string, string> = { shift: "⇧", backspace: "⌫" };
  if (key === "shift+/") {
    return "?";
  }
  return key
    .split("+")
    .map((part) => names[part] ?? part.toUpperCase())
    .join("");
}
