/** Draws threads over time on a canvas: what is visible, and only that. */
import type { EventsTimeline, EventsTimelineThread } from "../../core/engine/protocol";
import { fittingName } from "../../core/flame/layout";
import { readableOn } from "../../core/themeColours";
import { callColour, stateLooks, type TraceTheme, traceTheme } from "../../core/trace/colours";
import {
  type Lane,
  labelWidth,
  laneHeight,
  levelHeight,
  rulerHeight,
  type Span,
  ticks,
  timeWidth,
} from "../../core/trace/timeline";
import { themeKind, themeReader } from "../theme";

/** Pixels of a letter. */
const letter = 6.7;

export interface TimelinePicture {
  /** Of the canvas, in pixels. */
  width: number;
  height: number;
  /** How far the lanes are scrolled. */
  top: number;
  span: Span;
  /** Those in sight. */
  lanes: readonly Lane[];
  /** The thread whose calls are shown. */
  chosen: number | undefined;
  /** The time of the tree's chosen row. */
  marked: { thread: number; span: Span } | undefined;
  data: EventsTimeline | undefined;
  /** Of the chosen thread. */
  calls: EventsTimelineThread | undefined;
  /** Levels of calls that are drawn. */
  levels: number;
  /** What is searched for, in lower case; null: nothing is. */
  matches: string | null;
  nameOf(thread: number): string;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export class TimelinePainter {
  private readonly context: CanvasRenderingContext2D;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (context === null) {
      throw new Error("This window cannot draw on a canvas.");
    }
    this.context = context;
  }

  /** How many states and calls were drawn. */
  paint(picture: TimelinePicture): number {
    const { width, height } = picture;
    const ratio = window.devicePixelRatio;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      [this.canvas.width, this.canvas.height] = [wide, high];
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const style = getComputedStyle(document.body);
    const theme = traceTheme(themeKind(), themeReader());
    const { context } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    context.font = `11px ${style.getPropertyValue("--vscode-font-family") || "sans-serif"}`;
    context.textBaseline = "middle";
    return new Drawing(context, theme, picture).draw();
  }
}

/** One drawing. */
class Drawing {
  private readonly timeWidth: number;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly theme: TraceTheme,
    private readonly picture: TimelinePicture,
  ) {
    this.timeWidth = timeWidth(picture.width);
  }

  draw(): number {
    let drawn = 0;
    for (const lane of this.picture.lanes) {
      drawn += this.lane(lane, rulerHeight + lane.top - this.picture.top);
    }
    this.collections();
    this.ruler();
    return drawn;
  }

  private x(time: number): number {
    const { left, right } = this.picture.span;
    return labelWidth + ((time - left) / (right - left)) * this.timeWidth;
  }

  private lane(lane: Lane, y: number): number {
    const { context, picture } = this;
    const isChosen = lane.thread === picture.chosen;
    this.label(lane, y);
    context.save();
    context.beginPath();
    context.rect(labelWidth, y, this.timeWidth, lane.height);
    context.clip();
    let drawn = this.states(lane.thread, y);
    if (isChosen && picture.calls?.id === lane.thread) {
      drawn += this.calls(picture.calls, y + laneHeight);
    }
    if (picture.marked?.thread === lane.thread) {
      this.mark(picture.marked.span, { y: y + 2, height: lane.height - 4 });
    }
    context.restore();
    return drawn;
  }

  private label(lane: Lane, y: number): void {
    const { context, theme, picture } = this;
    const isChosen = lane.thread === picture.chosen;
    if (isChosen) {
      context.globalAlpha = 0.12;
      context.fillStyle = theme.quiet;
      context.fillRect(0, y, picture.width, lane.height);
      context.globalAlpha = 1;
      context.fillStyle = theme.focus;
      context.fillRect(0, y, 2, lane.height);
    }
    context.fillStyle = isChosen ? theme.text : theme.quiet;
    const name = fittingName(picture.nameOf(lane.thread), Math.floor((labelWidth - 18) / letter));
    context.fillText(name, 10, y + laneHeight / 2, labelWidth - 16);
  }

  private mark(span: Span, { y, height }: Pick<Box, "y" | "height">): void {
    const { context } = this;
    const left = this.x(span.left);
    context.strokeStyle = this.theme.focus;
    context.lineWidth = 1.5;
    context.strokeRect(left, y, Math.max(this.x(span.right) - left, 2), height);
  }

  private states(thread: number, y: number): number {
    const states = this.picture.data?.threads.find((it) => it.id === thread)?.states;
    const count = states?.startNs.length ?? 0;
    for (let n = 0; n < count; n += 1) {
      const [left, right] = [this.x(states?.startNs[n] ?? 0), this.x(states?.endNs[n] ?? 0)];
      const state = states?.state[n];
      if (state !== undefined) {
        const box = { x: left, y: y + 4, width: Math.max(right - left, 1), height: laneHeight - 8 };
        this.state(box, state, states?.cpu[n] ?? -1);
      }
    }
    return count;
  }

  /** `cpu`: the part of the time on a processor; negative: it is not known. */
  private state(box: Box, state: keyof TraceTheme["states"], cpu: number): void {
    const { x, y, width, height: full } = box;
    const { context, theme } = this;
    const height = full * stateLooks[state].height;
    context.fillStyle = theme.states[state];
    // A running thread may wait for something that is not logged: it is solid as far as it was on a processor.
    const solid = state === "running" && cpu >= 0 ? Math.max(height * cpu, 1) : height;
    if (solid < height) {
      context.globalAlpha = 0.35;
      context.fillRect(x, y + full - height, width, height);
      context.globalAlpha = 1;
    }
    context.fillRect(x, y + full - solid, width, solid);
    if (stateLooks[state].hatched && width > 4) {
      this.hatch(box);
    }
  }

  private hatch({ x, y, width, height }: Box): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.strokeStyle = this.theme.background;
    context.lineWidth = 1.5;
    context.beginPath();
    for (let at = x - height; at < x + width; at += 5) {
      context.moveTo(at, y + height);
      context.lineTo(at + height, y);
    }
    context.stroke();
    context.restore();
  }

  private calls(thread: EventsTimelineThread, y: number): number {
    const { startNs: start, endNs: end, depth, name } = thread.calls;
    const { levels, data } = this.picture;
    let drawn = 0;
    for (let n = 0; n < start.length; n += 1) {
      const level = depth[n] ?? 0;
      const left = Math.max(this.x(start[n] ?? 0), labelWidth);
      const width = Math.min(this.x(end[n] ?? 0), labelWidth + this.timeWidth) - left;
      if (level < levels && width >= 0.5) {
        const text = data?.names[name[n] ?? -1] ?? "";
        this.call(text, { x: left, y: y + level * levelHeight, width, height: levelHeight });
        drawn += 1;
      }
    }
    return drawn;
  }

  private call(text: string, { x, y, width, height }: Box): void {
    const { context, theme } = this;
    const { matches } = this.picture;
    const isFound = matches !== null && text.toLowerCase().includes(matches);
    const fill = isFound ? theme.match : callColour(theme, text);
    context.fillStyle = fill;
    context.globalAlpha = matches !== null && !isFound ? 0.35 : 1;
    context.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), 0.7), height - 1);
    if (theme.border !== null && width > 3) {
      context.strokeStyle = theme.border;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, width - 2, height - 2);
    }
    const room = Math.floor((width - 6) / letter);
    if (room >= 3) {
      context.fillStyle = readableOn(fill);
      context.fillText(fittingName(text, room), x + 3, y + height / 2, width - 5);
    }
    context.globalAlpha = 1;
  }

  /** Every thread waits for a collection, so it covers all lanes. */
  private collections(): void {
    const { context, theme, picture } = this;
    const { startNs: start, endNs: end } = picture.data?.collections ?? { startNs: [], endNs: [] };
    context.fillStyle = theme.collection;
    for (let n = 0; n < start.length; n += 1) {
      const left = Math.max(this.x(start[n] ?? 0), labelWidth);
      const width = Math.max(this.x(end[n] ?? 0) - left, 1);
      if (left > labelWidth + this.timeWidth || this.x(end[n] ?? 0) < labelWidth) {
        continue;
      }
      context.globalAlpha = 0.35;
      context.fillRect(left, rulerHeight, width, picture.height);
      context.globalAlpha = 1;
      context.fillRect(left, rulerHeight - 5, Math.max(width, 2), 5);
    }
  }

  private ruler(): void {
    const { context, theme, picture } = this;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, picture.width, rulerHeight - 5);
    context.fillStyle = theme.quiet;
    context.fillText("Thread", 10, 8);
    for (const { at, text } of ticks(picture.span, this.timeWidth)) {
      const x = this.x(at);
      context.fillStyle = theme.line;
      context.fillRect(x, 0, 1, rulerHeight - 5);
      context.fillStyle = theme.quiet;
      context.fillText(text, x + 4, 8);
    }
    context.fillStyle = theme.line;
    context.fillRect(0, rulerHeight - 1, picture.width, 1);
    context.fillRect(labelWidth - 1, 0, 1, picture.height);
  }
}
