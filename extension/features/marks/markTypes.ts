/** The decoration types of marks: one for each look, made when something has that look, shared by all lines. */
import * as vscode from "vscode";
import { gutterSize, inlineSize } from "../../core/causal/shapes";
import { Owner } from "../../core/owner";
import type { Colours, ThemeKind } from "../../core/themeColours";
import { coloursOf } from "./themeColours";

export type GutterMode = "gutter" | "inline" | "off";

/** How marks look. A tone without a colour is not drawn in that place. */
export interface Looks<Kind extends string, Tone extends string> {
  /** A picture as a data URI. */
  icon(kind: Kind, colours: Colours, stale: boolean, size: number): string;
  /** Theme colours. */
  textColours: Readonly<Partial<Record<Tone, string>>>;
  /** Theme colours. */
  rulerColours: Readonly<Partial<Record<Tone, string>>>;
}

/** Texts at the cursor have types of their own, so that they change alone when the cursor moves. */
export type TextPlace = "best" | "cursor";

/**
 * A type is a CSS rule, so each is made once.
 *
 * At the end of a line the shape is a `before` and the text an `after`, which puts them in this order.
 */
export class MarkTypes<Kind extends string, Tone extends string> extends Owner {
  private readonly types = new Map<string, vscode.TextEditorDecorationType>();

  constructor(private readonly looks: Looks<Kind, Tone>) {
    super();
  }

  shape(mode: Exclude<GutterMode, "off">, kind: Kind, stale: boolean): vscode.TextEditorDecorationType {
    return this.once(`${mode} ${kind} ${stale}`, () => {
      const [light, dark] = themePair();
      const size = mode === "gutter" ? gutterSize : inlineSize;
      const icon = (theme: ThemeKind) => vscode.Uri.parse(this.looks.icon(kind, coloursOf(theme), stale, size), true);
      const look = (theme: ThemeKind): vscode.ThemableDecorationRenderOptions =>
        mode === "gutter"
          ? { gutterIconPath: icon(theme), gutterIconSize: "contain" }
          : { before: { contentIconPath: icon(theme), margin: "0 -1.5em 0 2em" } };
      const rangeBehavior = vscode.DecorationRangeBehavior.ClosedOpen;
      return { light: look(light), dark: look(dark), rangeBehavior };
    });
  }

  text(place: TextPlace, tone: Tone): vscode.TextEditorDecorationType | undefined {
    const colour = this.looks.textColours[tone];
    return colour === undefined
      ? undefined
      : this.once(`text ${place} ${tone}`, () => ({
          after: { color: new vscode.ThemeColor(colour), margin: "0 0 0 2.5em", fontStyle: "italic" },
          rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
        }));
  }

  ruler(tone: Tone): vscode.TextEditorDecorationType | undefined {
    const colour = this.looks.rulerColours[tone];
    return colour === undefined
      ? undefined
      : this.once(`ruler ${tone}`, () => ({
          overviewRulerColor: new vscode.ThemeColor(colour),
          overviewRulerLane: vscode.OverviewRulerLane.Right,
        }));
  }

  private once(key: string, options: () => vscode.DecorationRenderOptions): vscode.TextEditorDecorationType {
    let type = this.types.get(key);
    if (type === undefined) {
      type = this.own(vscode.window.createTextEditorDecorationType(options()));
      this.types.set(key, type);
    }
    return type;
  }
}

/** The editor distinguishes light and dark only; high contrast takes the place of either. */
function themePair(): [light: ThemeKind, dark: ThemeKind] {
  switch (vscode.window.activeColorTheme.kind) {
    case vscode.ColorThemeKind.HighContrast:
      return ["light", "highContrast"];
    case vscode.ColorThemeKind.HighContrastLight:
      return ["highContrastLight", "dark"];
    default:
      return ["light", "dark"];
  }
}
