/** The graph itself: what is zoomed, what is selected, which parts are missing, and each frame's picture. */
import { FlameBoxes, FlameTiles, type Range } from "../../core/flame/boxes";
import { boxAt, type Pane, rowsInSight, type Screen, withCallers } from "../../core/flame/layout";
import type { FlameShown, FromFlame, Need, Section, Tile } from "../../core/flame/messages";
import { Needs } from "../../core/flame/needs";
import {
  firstPlace,
  nextMatch,
  type Place,
  placeOf,
  type SearchDirection,
  step,
  type Way,
  zoomOn,
} from "../../core/flame/selection";
import { nextFrame } from "../settled";
import { Painter } from "./flamePaint";

export const rowHeight = 18;
/** Milliseconds that a zoom takes. */
const glide = 160;
const whole: Range = { left: 0, right: 1 };

interface SectionState {
  tiles: FlameTiles;
  /** What is shown now, and what it glides to. */
  range: Range;
  target: Range;
  /** Places that were zoomed on, outermost first. */
  zoomed: Place[];
  /** Cost of the root. In a comparison A's. */
  total: number;
}

export interface Selected {
  section: Section;
  place: Place;
}

/** Something changed that is drawn outside the canvas. */
export type Notice = "selection" | "zoom" | "tiles";

export class FlameGraph {
  selected: Selected | undefined;
  private sections = new Map<Section, SectionState>();
  private shown: FlameShown | undefined;
  private matches: ((name: string) => boolean) | null = null;
  private readonly painter: Painter;
  private readonly needs = new Needs();
  /** Pixels above the path, and the rows of callers that they are for. */
  private above = 0;
  private callers = 0;
  private frame = 0;
  private glideFrom = 0;
  /** Pixels that were in sight when it was last drawn. */
  private height = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly scroller: HTMLElement,
    private readonly space: HTMLElement,
    private readonly send: (message: FromFlame) => void,
    private readonly notice: (what: Notice) => void,
  ) {
    this.painter = new Painter(canvas);
    scroller.addEventListener("scroll", () => this.drawSoon());
    new ResizeObserver(() => this.resized()).observe(scroller);
  }

  show(shown: FlameShown): void {
    const stays = shown.layout === this.shown?.layout;
    this.shown = shown;
    this.needs.clear();
    if (stays) {
      for (const { tiles } of this.sections.values()) {
        tiles.outdate();
      }
    } else {
      const names: Section[] = shown.path === null ? ["tree"] : ["callers", "callees"];
      this.sections = new Map(names.map((name) => [name, emptySection()]));
      this.selected = undefined;
      [this.above, this.callers] = [0, 0];
      this.scroller.scrollTop = 0;
    }
    this.drawSoon();
  }

  receive({ arrays, levels, total, ...need }: Tile): void {
    const { section, range, minimum } = need;
    const state = this.sections.get(section);
    if (state === undefined) {
      return;
    }
    const first = state.tiles.best(whole, 0).tile === undefined;
    state.tiles.add(new FlameBoxes(arrays, range, minimum, levels));
    this.needs.answered(need, state.tiles);
    state.total = total;
    if (first) {
      this.settle();
    }
    this.notice("tiles");
    this.drawSoon();
  }

  /** What could not be had is asked for again at the next drawing. */
  failed(need: Need): void {
    this.needs.failed(need);
  }

  search(matches: ((name: string) => boolean) | null): void {
    this.matches = matches;
    this.drawSoon();
  }

  drawSoon(): void {
    this.frame ||= nextFrame((now) => {
      this.frame = 0;
      this.draw(now);
    });
  }

  boxes(section: Section): FlameBoxes | undefined {
    const state = this.sections.get(section);
    return state?.tiles.best(state.range, this.minimum(state.range), this.rowsInSight(section)).tile;
  }

  total(section: Section): number {
    return this.sections.get(section)?.total ?? 0;
  }

  /** Where it was zoomed, for the breadcrumb: the section that is, and its places. */
  get zoom(): { section: Section; places: readonly Place[] } | undefined {
    const found = [...this.sections].find(([, state]) => state.zoomed.length > 0);
    return found === undefined ? undefined : { section: found[0], places: found[1].zoomed };
  }

  /** The box below a point of the canvas. */
  at(x: number, y: number): Selected | undefined {
    const screen = this.screen();
    for (const [section, pane] of this.panes()) {
      const box = boxAt(pane, screen, x, y);
      if (box >= 0) {
        const down = Math.floor((y - pane.y) / rowHeight);
        return { section, place: placeOf(pane.boxes, Math.abs(down), box) };
      }
    }
    return undefined;
  }

  select(selected: Selected | undefined): void {
    this.selected = selected;
    this.reveal();
    this.notice("selection");
    this.drawSoon();
  }

  /** Arrow keys, as they point. */
  move(key: "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight"): void {
    if (this.selected === undefined) {
      this.selectFirst();
      return;
    }
    let { section } = this.selected;
    const { place } = this.selected;
    // The path itself is the callees' first row: above it are the callers.
    if (section === "callees" && place.row === 0 && key === "ArrowUp") {
      section = "callers";
    }
    const boxes = this.boxes(section);
    const state = this.sections.get(section);
    if (boxes === undefined || state === undefined) {
      return;
    }
    const up: Way = section === "callers" ? "outwards" : "inwards";
    const down: Way = section === "callers" ? "inwards" : "outwards";
    const way: Way = { ArrowUp: up, ArrowDown: down, ArrowLeft: "left" as const, ArrowRight: "right" as const }[key];
    const next = step(boxes, place, way, state.target, this.minimum(state.target));
    if (next !== undefined) {
      const home = section === "callers" && next.place.row === 0;
      this.select({ section: home ? "callees" : section, place: next.place });
    }
  }

  /** False when no box that is drawn matches. */
  nextMatch(direction: SearchDirection): boolean {
    if (this.matches === null) {
      return true;
    }
    const parts = [...this.panes()].map(([section, { boxes, skip }]) => ({ section, boxes, skip: skip ?? 0 }));
    const found = nextMatch(parts, this.selected, direction, this.matches);
    if (found !== undefined) {
      this.select(found);
    }
    return found !== undefined;
  }

  /** Zooms on a place, or on the selected one. */
  zoomIn(on = this.selected): void {
    const state = on === undefined ? undefined : this.sections.get(on.section);
    if (on === undefined || state === undefined) {
      return;
    }
    state.zoomed = [...state.zoomed.filter((place) => contains(place, on.place)), on.place];
    this.glideTo(state, zoomOn(on.place));
  }

  /** One step out; false when it was all the way out. */
  zoomOut(): boolean {
    const state = [...this.sections.values()].find(
      (it) => it.zoomed.length > 0 || it.target.right - it.target.left < 1,
    );
    if (state === undefined) {
      return false;
    }
    state.zoomed = state.zoomed.slice(0, -1);
    const last = state.zoomed.at(-1);
    this.glideTo(state, last === undefined ? whole : zoomOn(last));
    return true;
  }

  reset(): void {
    for (const state of this.sections.values()) {
      state.zoomed = [];
      this.glideTo(state, whole);
    }
  }

  /** By the wheel: around a point, or to a side. Pixels. */
  wheel(x: number, y: number, zoom: number, pan: number): void {
    const section = this.at(x, y)?.section ?? [...this.sections.keys()].at(-1);
    const state = section === undefined ? undefined : this.sections.get(section);
    if (state === undefined) {
      return;
    }
    const { width } = this.screen();
    const { left, right } = state.target;
    const place = left + (x / width) * (right - left);
    const span = Math.min(1, Math.max((right - left) * zoom, 1e-9));
    const start = place - (x / width) * span + (pan / width) * span;
    const from = Math.min(Math.max(start, 0), 1 - span);
    state.zoomed = [];
    state.target = { left: from, right: from + span };
    state.range = state.target;
    this.notice("zoom");
    this.drawSoon();
  }

  private selectFirst(): void {
    const section: Section = this.sections.has("tree") ? "tree" : "callees";
    const boxes = this.boxes(section);
    const state = this.sections.get(section);
    const first = boxes === undefined || state === undefined ? undefined : firstPlace(boxes, state.target);
    if (first !== undefined) {
      this.select({ section, place: first.place });
    }
  }

  private glideTo(state: SectionState, target: Range): void {
    state.target = target;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      state.range = target;
    }
    this.glideFrom = performance.now();
    this.notice("zoom");
    this.drawSoon();
  }

  /** What was selected and in sight stays in sight when there is less height. */
  private resized(): void {
    const y = this.selectedY();
    if (y !== undefined && y >= 0 && y + rowHeight <= this.height) {
      this.bringInSight(y);
    }
    this.drawSoon();
  }

  /** Pixels from the top of what is in sight to the selected row. */
  private selectedY(): number | undefined {
    const pane = this.selected === undefined ? undefined : this.panes().get(this.selected.section);
    return pane === undefined || this.selected === undefined
      ? undefined
      : pane.y + (pane.direction === "down" ? 1 : -1) * this.selected.place.row * rowHeight;
  }

  private bringInSight(y: number): void {
    if (y < 0) {
      this.scroller.scrollTop += y;
    } else if (y + rowHeight > this.scroller.clientHeight) {
      this.scroller.scrollTop += y + rowHeight - this.scroller.clientHeight;
    }
  }

  /** The selected row comes on screen, and its box into what is zoomed. */
  private reveal(): void {
    const y = this.selectedY();
    if (y === undefined || this.selected === undefined) {
      return;
    }
    this.bringInSight(y);
    const state = this.sections.get(this.selected.section);
    const { x, width } = this.selected.place;
    // A match can lie outside what is zoomed.
    if (state !== undefined && (x + width <= state.target.left || x >= state.target.right)) {
      state.zoomed = [];
      this.glideTo(state, whole);
    }
  }

  /** Puts the path in the middle when there are callers above it. */
  private settle(): void {
    this.callers = this.callerRows();
    this.above = this.callers * rowHeight;
    this.stretch(0);
    this.scroller.scrollTop = Math.max(0, this.above - this.scroller.clientHeight / 2);
  }

  /** The path stays where it is when a part has other callers. */
  private anchor(): void {
    const callers = this.callerRows();
    const { scrollTop } = this.scroller;
    if (callers === this.callers) {
      this.stretch(scrollTop);
      return;
    }
    this.callers = callers;
    const { above, scrolled } = withCallers({ above: this.above, scrolled: scrollTop }, callers, rowHeight);
    this.above = above;
    this.stretch(scrolled);
    this.scroller.scrollTop = scrolled;
  }

  /** There is as much to scroll as there are rows; beside a path at least as much as is scrolled, so that it stays. */
  private stretch(scrolled: number): void {
    const merged = this.sections.has("callees");
    const below = this.boxes(merged ? "callees" : "tree")?.levels ?? 0;
    const least = (merged ? scrolled : 0) + this.scroller.clientHeight;
    this.space.style.height = `${Math.max(this.above + below * rowHeight, least)}px`;
  }

  private callerRows(): number {
    return Math.max(0, (this.boxes("callers")?.levels ?? 1) - 1);
  }

  private screen(): Screen {
    return { width: this.scroller.clientWidth, height: this.scroller.clientHeight, rowHeight };
  }

  private minimum(range: Range): number {
    return (range.right - range.left) / Math.max(1, this.scroller.clientWidth);
  }

  private rowsInSight(section: Section): number {
    return rowsInSight(this.above - this.scroller.scrollTop, section === "callers" ? "up" : "down", this.screen());
  }

  private panes(): Map<Section, Pane> {
    const panes = new Map<Section, Pane>();
    for (const [section, state] of this.sections) {
      const tile = this.boxes(section);
      if (tile !== undefined) {
        const y = this.above - this.scroller.scrollTop;
        const up = section === "callers";
        panes.set(section, { boxes: tile, range: state.range, y, direction: up ? "up" : "down", skip: up ? 1 : 0 });
      }
    }
    return panes;
  }

  private draw(now: number): void {
    const begun = performance.now();
    const arrived = now - this.glideFrom >= glide;
    for (const state of this.sections.values()) {
      if (state.range !== state.target) {
        state.range = arrived ? state.target : between(state.range, state.target);
        this.drawSoon();
      }
    }
    this.anchor();
    const screen = this.screen();
    this.height = screen.height;
    this.canvas.style.width = `${screen.width}px`;
    this.canvas.style.height = `${screen.height}px`;
    const panes = this.panes();
    const changes = [...panes.values()].map((pane) => pane.boxes.mostChange);
    const drawn = this.painter.paint({
      panes: [...panes].map(([section, pane]) => ({
        pane,
        selected: this.selected?.section === section ? this.selected.place : undefined,
      })),
      screen,
      hasLabels: (this.shown?.labels.length ?? 0) > 0,
      matches: this.matches,
      mostChange: this.shown?.comparison === true ? Math.max(...changes, 1) : null,
    });
    this.canvas.dataset.drawn = String(drawn);
    this.canvas.dataset.milliseconds = (performance.now() - begun).toFixed(2);
    this.ask();
  }

  /** What the target needs and no part has. */
  private ask(): void {
    const shown = this.shown;
    if (shown === undefined || this.scroller.clientWidth === 0) {
      return;
    }
    for (const [section, { tiles, target }] of this.sections) {
      const need = this.needs.of(section, tiles, target, this.minimum(target), this.rowsInSight(section));
      if (need !== undefined) {
        this.send({ type: "need", generation: shown.generation, need });
      }
    }
  }
}

function emptySection(): SectionState {
  return { tiles: new FlameTiles(), range: whole, target: whole, zoomed: [], total: 0 };
}

function contains(outer: Place, inner: Place): boolean {
  const slack = inner.width * 1e-6;
  return outer.row < inner.row && outer.x <= inner.x + slack && outer.x + outer.width >= inner.x + inner.width - slack;
}

/** A third of what is left: fast at first, slower towards the end. */
function between(from: Range, to: Range): Range {
  const mix = (a: number, b: number) => a + (b - a) * 0.35;
  return { left: mix(from.left, to.left), right: mix(from.right, to.right) };
}
