/** Threads over time on a canvas: states, garbage collections, the calls of the chosen thread. */

import type { EventsOpened, EventsTimeline, EventsTimelineThread } from "../../core/engine/protocol";
import { fittingName } from "../../core/flame/layout";
import { readableOn } from "../../core/themeColours";
import { callColour, stateLooks, type TraceTheme, traceTheme } from "../../core/trace/colours";
import type { FromTrace } from "../../core/trace/messages";
import { threadName, virtualMachine } from "../../core/trace/rows";
import {
  around,
  type Lane,
  laneHeight,
  lanes,
  levelHeight,
  pan,
  reveal,
  type Span,
  ticks,
  zoom,
} from "../../core/trace/timeline";
import { nextFrame } from "../settled";
import { themeKind, themeReader } from "../theme";

const rulerHeight = 20;
const labelWidth = 150;
const mostLevels = 12;
const letter = 6.7;

export interface CallAt {
  thread: number;
  node: number;
  name: string;
  start: number;
  end: number;
}

export class Timeline {
  private trace: EventsOpened | undefined;
  private whole: Span = { left: 0, right: 1 };
  private span: Span = { left: 0, right: 1 };
  private threads: number[] = [];
  private chosenThread: number | undefined;
  /** The time of the tree's chosen row. */
  private marked: { thread: number; span: Span } | undefined;
  private matches: string | null = null;
  private data: EventsTimeline | undefined;
  private calls: EventsTimelineThread | undefined;
  private names: readonly string[] = [];
  private asked = "";
  private waiting = false;
  private frame = 0;
  private readonly context: CanvasRenderingContext2D;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
    private readonly space: HTMLElement,
    private readonly send: (message: FromTrace) => void,
  ) {
    const context = canvas.getContext("2d", { alpha: false });
    if (context === null) {
      throw new Error("This window cannot draw on a canvas.");
    }
    this.context = context;
    scroller.addEventListener("scroll", () => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(scroller);
  }

  show(trace: EventsOpened): void {
    if (this.trace?.id === trace.id) {
      return;
    }
    this.trace = trace;
    this.whole = { left: trace.startNs, right: Math.max(trace.endNs, trace.startNs + 1) };
    this.span = this.whole;
    // It has no states; its collections are in the ruler.
    this.threads = trace.threads.filter((it) => it.id !== virtualMachine).map((it) => it.id);
    this.chosenThread = this.threads[0];
    [this.data, this.calls, this.marked, this.asked] = [undefined, undefined, undefined, ""];
    this.waiting = false;
    this.drawSoon();
  }

  receive(threads: readonly number[], levelsOf: number | null, timeline: EventsTimeline): void {
    this.waiting = false;
    this.data = timeline;
    this.names = timeline.names;
    this.calls = timeline.threads.find((it) => it.id === levelsOf);
    this.canvas.dataset.threads = String(threads.length);
    this.drawSoon();
  }

  get chosen(): number | undefined {
    return this.chosenThread;
  }

  choose(thread: number): void {
    if (thread === this.chosenThread || !this.threads.includes(thread)) {
      return;
    }
    this.chosenThread = thread;
    this.calls = undefined;
    this.revealLane();
    this.drawSoon();
  }

  /** Up or down one lane. */
  step(by: number): void {
    const at = this.threads.indexOf(this.chosenThread ?? -1);
    const next = this.threads[Math.min(Math.max(at + by, 0), this.threads.length - 1)];
    if (next !== undefined) {
      this.choose(next);
    }
  }

  /** What the tree has chosen; the thread of it comes along. */
  mark(thread: number, span: Span): void {
    this.marked = { thread, span };
    this.choose(thread);
    this.set(reveal(this.span, this.whole, span));
  }

  search(text: string | null): void {
    this.matches = text;
    this.drawSoon();
  }

  zoomBy(factor: number, x?: number): void {
    const width = this.width();
    const share = x === undefined ? 0.5 : Math.min(Math.max((x - labelWidth) / width, 0), 1);
    this.set(zoom(this.span, this.whole, factor, share));
  }

  /** By pixels. */
  panBy(pixels: number): void {
    this.set(pan(this.span, this.whole, pixels / this.width()));
  }

  panByShare(share: number): void {
    this.set(pan(this.span, this.whole, share));
  }

  zoomOn(span: Span): void {
    this.set(around(span, this.whole));
  }

  zoomOut(): void {
    this.set(this.whole);
  }

  /** The thread and the call at a point of the canvas. */
  at(x: number, y: number): { thread: number; call: CallAt | undefined } | undefined {
    const down = y - rulerHeight + this.scroller.scrollTop;
    const lane = y < rulerHeight ? undefined : this.lanes().find((it) => down >= it.top && down < it.top + it.height);
    if (lane === undefined) {
      return undefined;
    }
    const level = Math.floor((down - lane.top - laneHeight) / levelHeight);
    return { thread: lane.thread, call: level < 0 || x < labelWidth ? undefined : this.callAt(this.time(x), level) };
  }

  /** The state at a point, in words. */
  stateAt(x: number, thread: number): string {
    const states = this.data?.threads.find((it) => it.id === thread)?.states;
    const time = this.time(x);
    const at = states?.startNs.findIndex((start, n) => start <= time && time < (states.endNs[n] ?? 0)) ?? -1;
    const state = states?.state[at];
    const cpu = states?.cpu[at] ?? -1;
    if (state === undefined || x < labelWidth) {
      return this.nameOf(thread);
    }
    const share = cpu < 0 ? "" : `, ${Math.round(cpu * 100)}\u00a0% on a processor`;
    return `${this.nameOf(thread)}: ${state}${share}`;
  }

  nameOf(thread: number): string {
    const found = this.trace?.threads.find((it) => it.id === thread);
    return found === undefined ? "" : threadName(found);
  }

  drawSoon(): void {
    this.frame ||= nextFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private set(span: Span): void {
    this.span = span;
    this.drawSoon();
  }

  private width(): number {
    return Math.max(this.scroller.clientWidth - labelWidth, 50);
  }

  private time(x: number): number {
    return this.span.left + ((x - labelWidth) / this.width()) * (this.span.right - this.span.left);
  }

  private x(time: number): number {
    return labelWidth + ((time - this.span.left) / (this.span.right - this.span.left)) * this.width();
  }

  private levels(): number {
    return Math.min(this.calls?.levels ?? 0, mostLevels);
  }

  private lanes(): Lane[] {
    return lanes(this.threads, this.chosenThread, this.levels());
  }

  private callAt(time: number, level: number): CallAt | undefined {
    const { calls } = this;
    if (calls === undefined) {
      return undefined;
    }
    const { startNs: start, endNs: end, depth, name, node } = calls.calls;
    const at = start.findIndex((from, n) => depth[n] === level && from <= time && time <= (end[n] ?? 0));
    return at < 0
      ? undefined
      : {
          thread: calls.id,
          node: node[at] ?? 0,
          name: this.names[name[at] ?? -1] ?? "",
          start: start[at] ?? 0,
          end: end[at] ?? 0,
        };
  }

  private revealLane(): void {
    const lane = this.lanes().find((it) => it.thread === this.chosenThread);
    const room = this.scroller.clientHeight - rulerHeight;
    if (lane !== undefined && lane.top < this.scroller.scrollTop) {
      this.scroller.scrollTop = lane.top;
    } else if (lane !== undefined && lane.top + laneHeight > this.scroller.scrollTop + room) {
      this.scroller.scrollTop = lane.top + laneHeight - room;
    }
  }

  private draw(): void {
    if (this.trace === undefined || this.scroller.clientWidth === 0) {
      return;
    }
    const all = this.lanes();
    const { clientWidth: width, clientHeight: height } = this.scroller;
    const last = all.at(-1);
    this.space.style.height = `${Math.max(rulerHeight + (last === undefined ? 0 : last.top + last.height), height)}px`;
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
    const top = this.scroller.scrollTop;
    const visible = all.filter((lane) => lane.top + lane.height > top && lane.top < top + height);
    let drawn = 0;
    for (const lane of visible) {
      drawn += this.lane(lane, rulerHeight + lane.top - top, theme);
    }
    this.collections(theme, height);
    this.ruler(theme, width);
    this.canvas.dataset.drawn = String(drawn);
    this.ask(visible.map((lane) => lane.thread));
  }

  private lane(lane: Lane, y: number, theme: TraceTheme): number {
    const { context } = this;
    const chosen = lane.thread === this.chosenThread;
    if (chosen) {
      context.globalAlpha = 0.12;
      context.fillStyle = theme.quiet;
      context.fillRect(0, y, this.scroller.clientWidth, lane.height);
      context.globalAlpha = 1;
      context.fillStyle = theme.focus;
      context.fillRect(0, y, 2, lane.height);
    }
    context.fillStyle = chosen ? theme.text : theme.quiet;
    const name = fittingName(this.nameOf(lane.thread), Math.floor((labelWidth - 18) / letter));
    context.fillText(name, 10, y + laneHeight / 2, labelWidth - 16);
    context.save();
    context.beginPath();
    context.rect(labelWidth, y, this.width(), lane.height);
    context.clip();
    const states = this.data?.threads.find((it) => it.id === lane.thread)?.states;
    for (let n = 0; n < (states?.startNs.length ?? 0); n += 1) {
      const [left, right] = [this.x(states?.startNs[n] ?? 0), this.x(states?.endNs[n] ?? 0)];
      const state = states?.state[n];
      if (state !== undefined) {
        this.state(left, Math.max(right - left, 1), y, state, states?.cpu[n] ?? -1, theme);
      }
    }
    let drawn = states?.startNs.length ?? 0;
    if (chosen && this.calls?.id === lane.thread) {
      drawn += this.callBoxes(this.calls, y + laneHeight, theme);
    }
    if (this.marked?.thread === lane.thread) {
      const left = this.x(this.marked.span.left);
      const width = Math.max(this.x(this.marked.span.right) - left, 2);
      context.strokeStyle = theme.focus;
      context.lineWidth = 1.5;
      context.strokeRect(left, y + 2, width, lane.height - 4);
    }
    context.restore();
    return drawn;
  }

  private state(
    x: number,
    width: number,
    y: number,
    state: keyof TraceTheme["states"],
    cpu: number,
    theme: TraceTheme,
  ): void {
    const look = stateLooks[state];
    const full = laneHeight - 8;
    const height = full * look.height;
    const { context } = this;
    context.fillStyle = theme.states[state];
    // What runs may wait for something that is not logged: solid is as much as it was on a processor.
    const solid = state === "running" && cpu >= 0 ? Math.max(height * cpu, 1) : height;
    if (solid < height) {
      context.globalAlpha = 0.35;
      context.fillRect(x, y + 4 + full - height, width, height);
      context.globalAlpha = 1;
    }
    context.fillRect(x, y + 4 + full - solid, width, solid);
    if (look.hatched && width > 4) {
      context.save();
      context.beginPath();
      context.rect(x, y + 4, width, full);
      context.clip();
      context.strokeStyle = theme.background;
      context.lineWidth = 1.5;
      context.beginPath();
      for (let at = x - full; at < x + width; at += 5) {
        context.moveTo(at, y + 4 + full);
        context.lineTo(at + full, y + 4);
      }
      context.stroke();
      context.restore();
    }
  }

  private callBoxes(thread: EventsTimelineThread, y: number, theme: TraceTheme): number {
    const { startNs: start, endNs: end, depth, name } = thread.calls;
    const { context, matches } = this;
    let drawn = 0;
    for (let n = 0; n < start.length; n += 1) {
      const level = depth[n] ?? 0;
      const left = Math.max(this.x(start[n] ?? 0), labelWidth);
      const width = Math.min(this.x(end[n] ?? 0), labelWidth + this.width()) - left;
      if (level >= this.levels() || width < 0.5) {
        continue;
      }
      const text = this.names[name[n] ?? -1] ?? "";
      const found = matches !== null && text.toLowerCase().includes(matches);
      const top = y + level * levelHeight;
      const fill = found ? theme.match : callColour(theme, text);
      context.fillStyle = fill;
      context.globalAlpha = matches !== null && !found ? 0.35 : 1;
      context.fillRect(left, top, Math.max(width - (width > 3 ? 1 : 0), 0.7), levelHeight - 1);
      if (theme.border !== null && width > 3) {
        context.strokeStyle = theme.border;
        context.lineWidth = 1;
        context.strokeRect(left + 0.5, top + 0.5, width - 2, levelHeight - 2);
      }
      const room = Math.floor((width - 6) / letter);
      if (room >= 3) {
        context.fillStyle = readableOn(fill);
        context.fillText(fittingName(text, room), left + 3, top + levelHeight / 2, width - 5);
      }
      context.globalAlpha = 1;
      drawn += 1;
    }
    return drawn;
  }

  /** Everybody waits for a collection: it stands over all lanes. */
  private collections(theme: TraceTheme, height: number): void {
    const { context } = this;
    const { startNs: start, endNs: end } = this.data?.collections ?? { startNs: [], endNs: [] };
    context.fillStyle = theme.collection;
    for (let n = 0; n < start.length; n += 1) {
      const left = Math.max(this.x(start[n] ?? 0), labelWidth);
      const width = Math.max(this.x(end[n] ?? 0) - left, 1);
      if (left > labelWidth + this.width() || this.x(end[n] ?? 0) < labelWidth) {
        continue;
      }
      context.globalAlpha = 0.35;
      context.fillRect(left, rulerHeight, width, height);
      context.globalAlpha = 1;
      context.fillRect(left, rulerHeight - 5, Math.max(width, 2), 5);
    }
  }

  private ruler(theme: TraceTheme, width: number): void {
    const { context } = this;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, rulerHeight - 5);
    context.fillStyle = theme.quiet;
    context.fillText("Thread", 10, 8);
    for (const { at, text } of ticks(this.span, this.width())) {
      const x = this.x(at);
      context.fillStyle = theme.line;
      context.fillRect(x, 0, 1, rulerHeight - 5);
      context.fillStyle = theme.quiet;
      context.fillText(text, x + 4, 8);
    }
    context.fillStyle = theme.line;
    context.fillRect(0, rulerHeight - 1, width, 1);
    context.fillRect(labelWidth - 1, 0, 1, this.scroller.clientHeight);
  }

  private ask(threads: number[]): void {
    const { left, right } = this.span;
    const width = this.width();
    const levelsOf = this.chosenThread ?? null;
    const key = JSON.stringify([this.trace?.id, left, right, width, threads, levelsOf]);
    // One at a time: while the wheel turns, what lies in between is not of interest.
    if (key === this.asked || this.waiting) {
      return;
    }
    this.asked = key;
    this.waiting = true;
    this.send({ type: "timeline", left, right, width, threads, levelsOf, levels: mostLevels });
  }
}
