/** Threads over time: which part is shown, what is chosen in it, and what the engine has said about it. */
import type { EventsOpened, EventsTimeline, EventsTimelineThread } from "../../core/engine/protocol";
import type { FromTrace } from "../../core/trace/messages";
import { threadName, virtualMachine } from "../../core/trace/rows";
import {
  around,
  type Lane,
  labelWidth,
  laneHeight,
  lanes,
  levelHeight,
  pan,
  reveal,
  rulerHeight,
  type Span,
  timeWidth,
  zoom,
} from "../../core/trace/timeline";
import { nextFrame } from "../settled";
import { TimelinePainter } from "./traceTimelinePaint";

/** Levels of calls that are drawn. */
const mostLevels = 12;

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
  private readonly painter: TimelinePainter;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
    private readonly space: HTMLElement,
    private readonly send: (message: FromTrace) => void,
  ) {
    this.painter = new TimelinePainter(canvas);
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
    // The virtual machine has no states; its collections are in the ruler.
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

  /** Marks the time of what is chosen in the tree, and chooses its thread. */
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

  /** The state at a point, as text. */
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
    return timeWidth(this.scroller.clientWidth);
  }

  private time(x: number): number {
    return this.span.left + ((x - labelWidth) / this.width()) * (this.span.right - this.span.left);
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
    const { clientWidth: width, clientHeight: height, scrollTop: top } = this.scroller;
    const last = all.at(-1);
    this.space.style.height = `${Math.max(rulerHeight + (last === undefined ? 0 : last.top + last.height), height)}px`;
    const inSight = all.filter((lane) => lane.top + lane.height > top && lane.top < top + height);
    const drawn = this.painter.paint({
      ...{ width, height, top, span: this.span, lanes: inSight },
      ...{ chosen: this.chosenThread, marked: this.marked, matches: this.matches },
      ...{ data: this.data, calls: this.calls, levels: this.levels() },
      nameOf: (thread) => this.nameOf(thread),
    });
    this.canvas.dataset.drawn = String(drawn);
    this.ask(inSight.map((lane) => lane.thread));
  }

  private ask(threads: number[]): void {
    const { left, right } = this.span;
    const width = this.width();
    const levelsOf = this.chosenThread ?? null;
    const key = JSON.stringify([this.trace?.id, left, right, width, threads, levelsOf]);
    // One request at a time: while the wheel turns, what lies in between does not matter.
    if (key === this.asked || this.waiting) {
      return;
    }
    this.asked = key;
    this.waiting = true;
    this.send({ type: "timeline", left, right, width, threads, levelsOf, levels: mostLevels });
  }
}
