/** Draws a flame graph's panes on a canvas: what is visible, and only that. */
import { type BoxLook, type FlameTheme, flameTheme, type Paint, paintOf } from "../../core/flame/colours";
import { boxText, signOf } from "../../core/flame/describe";
import { type Pane, type Screen, visibleBoxes } from "../../core/flame/layout";
import { indexOf, type Place } from "../../core/flame/selection";
import { themeKind, themeReader } from "../theme";

export interface Picture {
  panes: readonly { pane: Pane; selected: Place | undefined }[];
  screen: Screen;
  hasLabels: boolean;
  /** Whether a name is searched for; null: nothing is. */
  matches: ((name: string) => boolean) | null;
  /** The greatest difference, which has the strongest colour; null: not a comparison. */
  mostChange: number | null;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What is written around a name. */
interface Words {
  sign: string;
  /** How deep in its recursion it is. */
  times: number;
}

const font = "12px";
/** Pixels of a letter on average, and around a text. */
const letter = 6.7;
const margin = 4;

export class Painter {
  private readonly context: CanvasRenderingContext2D;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (context === null) {
      throw new Error("This window cannot draw on a canvas.");
    }
    this.context = context;
  }

  /** How many boxes were drawn. */
  paint(picture: Picture): number {
    const { width, height } = picture.screen;
    const ratio = window.devicePixelRatio;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const style = getComputedStyle(document.body);
    const theme = flameTheme(themeKind(), themeReader());
    const { context } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    context.font = `${font} ${style.getPropertyValue("--vscode-editor-font-family") || "monospace"}`;
    context.textBaseline = "middle";
    let drawn = 0;
    for (const { pane, selected } of picture.panes) {
      drawn += this.pane(pane, picture, theme);
      this.focus(pane, selected, picture.screen, theme);
    }
    return drawn;
  }

  private pane(pane: Pane, picture: Picture, theme: FlameTheme): number {
    const { boxes } = pane;
    const { rowHeight } = picture.screen;
    const look: BoxLook = { name: "", label: -1, delta: null, matches: null };
    /** Neighbouring pieces of dust are one piece. */
    let dust: { x: number; end: number; y: number; paint: Paint } | undefined;
    const sweep = () => {
      if (dust !== undefined) {
        this.context.fillStyle = theme.border ?? dust.paint.fill;
        this.context.globalAlpha = 0.75;
        this.context.fillRect(dust.x, dust.y, dust.end - dust.x, rowHeight - 1);
        this.context.globalAlpha = 1;
        dust = undefined;
      }
    };
    const drawn = visibleBoxes(pane, picture.screen, (box, x, y, width, isDust) => {
      look.name = boxes.nameOf(box);
      look.label = boxes.label[box] ?? -1;
      const change = boxes.against === null ? null : (boxes.cost[box] ?? 0) - (boxes.against[box] ?? 0);
      look.delta = change === null ? null : change / (picture.mostChange || 1);
      look.matches = picture.matches === null ? null : picture.matches(look.name);
      const paint = paintOf(look, theme, picture.hasLabels);
      if (!isDust) {
        sweep();
        this.box(look, words(boxes, box), { x, y, width, height: rowHeight }, paint, theme);
      } else if (dust !== undefined && dust.y === y && dust.paint === paint && x <= dust.end + 0.01) {
        dust.end = x + width;
      } else {
        sweep();
        dust = { x, end: x + width, y, paint };
      }
    });
    sweep();
    return drawn;
  }

  private box({ name, label }: BoxLook, { sign, times }: Words, at: Box, paint: Paint, theme: FlameTheme): void {
    const { context } = this;
    const { x, y, width, height } = at;
    const gap = width > 3 ? 1 : 0;
    context.fillStyle = paint.fill;
    context.fillRect(x, y, width - gap, height - 1);
    if (theme.border !== null && width > 3) {
      context.strokeStyle = theme.border;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, width - gap - 1, height - 2);
    }
    const text = boxText(name, label, sign, Math.floor((width - 2 * margin) / letter), times);
    if (text !== "") {
      context.fillStyle = paint.text;
      context.fillText(text, x + margin, y + height / 2, width - 2 * margin + 2);
    }
  }

  private focus(pane: Pane, selected: Place | undefined, screen: Screen, theme: FlameTheme): void {
    if (selected === undefined || indexOf(pane.boxes, selected) < 0) {
      return;
    }
    const { range, y, direction } = pane;
    const scale = screen.width / (range.right - range.left);
    const left = Math.max((selected.x - range.left) * scale, 0);
    const right = Math.min((selected.x + selected.width - range.left) * scale, screen.width);
    if (right < 0 || left > screen.width) {
      return;
    }
    const top = y + (direction === "down" ? 1 : -1) * selected.row * screen.rowHeight;
    this.context.strokeStyle = theme.focus;
    this.context.lineWidth = 2;
    this.context.strokeRect(left + 1, top + 1, Math.max(right - left - 3, 1), screen.rowHeight - 3);
  }
}

function words(boxes: Pane["boxes"], box: number): Words {
  return {
    sign: signOf(boxes.cost[box] ?? 0, boxes.against?.[box] ?? null),
    times: boxes.times[box] ?? 1,
  };
}
