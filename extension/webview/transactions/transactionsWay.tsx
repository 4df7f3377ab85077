/** One transaction's way on a timeline across threads and processes. */
import { Component, createRef, type VNode } from "preact";
import type { TransactionsOpened, TransactionWay } from "../../core/engine/protocol";
import {
  drawnText,
  typesWithWays,
  type WayBar,
  type WayLane,
  type WayPicture,
  wayPicture,
  waysOf,
  wayText,
} from "../../core/transactions/ways";
import { Button } from "../ui";

const widest = 256;
const keys =
  "Left and right follow the transaction, up and down change the thread, plus and minus zoom, 0 shows all of it, Page Up and Page Down scroll, Enter goes to the source.";

interface Props {
  opened: TransactionsOpened;
  /** The type to begin with, if it has any way. */
  first: string;
  /** Learns the type whose transaction is shown. */
  chosen: (type: string) => void;
  /** Goes to a function's source. */
  go: (name: string) => void;
}

export class WayView extends Component<Props> {
  /** Whose transaction is shown. */
  private type: string;
  /** Which of its transactions, the slowest first. */
  private index = 0;
  private zoom = 1;
  /** The stay that has the focus, by its place in the way. */
  private at = 0;
  private readonly part = createRef<HTMLElement>();
  private readonly drawing = createRef<HTMLDivElement>();

  constructor(props: Props) {
    super(props);
    const types = typesWithWays(props.opened);
    this.type = types.includes(props.first) ? props.first : (types[0] ?? "");
  }

  /** Whether the user is looking at it: has the focus in it, has zoomed, or chose another than the slowest. */
  get isLookedAt(): boolean {
    const hasFocus = this.part.current?.contains(document.activeElement) === true;
    return this.zoom !== 1 || this.index > 0 || hasFocus;
  }

  override componentDidMount(): void {
    if (this.type !== "") {
      this.props.chosen(this.type);
    }
  }

  /** Shows the slowest transaction of a type, if any is known. */
  choose(type: string): void {
    if (waysOf(this.props.opened, type).length > 0) {
      this.type = type;
      this.begin(0);
      this.props.chosen(type);
    }
  }

  override render(): VNode {
    const { opened } = this.props;
    const types = typesWithWays(opened);
    const ways = waysOf(opened, this.type);
    const way = ways[this.index];
    return (
      <section ref={this.part} id="wayPart" aria-label="One transaction">
        <h2>One Transaction</h2>
        {way === undefined ? (
          <p class="quiet">
            No transaction began in a recorded process. Record the program that accepts the requests, and send it some.
          </p>
        ) : (
          <>
            {this.choice(types, ways)}
            {this.lanes(way)}
          </>
        )}
      </section>
    );
  }

  private choice(types: readonly string[], ways: readonly TransactionWay[]): VNode {
    return (
      <div class="line">
        <select
          id="wayType"
          aria-label="Type"
          value={this.type}
          onChange={(event) => this.choose(event.currentTarget.value)}
        >
          {types.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <select
          id="way"
          aria-label="Transaction, the slowest first"
          value={String(this.index)}
          onChange={(event) => this.begin(Number(event.currentTarget.value))}
        >
          {ways.map((way, n) => (
            <option key={`${this.type} ${n}`} value={String(n)}>{`${n + 1}. ${wayText(way)}`}</option>
          ))}
        </select>
        <Button title="Zoom out ( − )" onClick={() => this.scale(0.5)}>
          −
        </Button>
        <Button title="Zoom in ( + )" onClick={() => this.scale(2)}>
          +
        </Button>
        <Button title="Show all of it ( 0 )" onClick={() => this.scale(0)}>
          All
        </Button>
      </div>
    );
  }

  private lanes(way: TransactionWay): VNode {
    const picture = this.pictureOf(way);
    const cuts = [picture.cut, drawnText(this.props.opened, way.type)].filter((text) => text !== null);
    return (
      <>
        <p class="quiet" role="status" id="wayText">
          {[picture.summary, ...cuts].join(" ")}
        </p>
        <div
          ref={this.drawing}
          id="lanes"
          role="group"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: keys work on the whole timeline.
          tabIndex={0}
          aria-label={`${picture.summary} ${keys}`}
          style={{ "--zoom": String(this.zoom) }}
          onKeyDown={(event) => this.key(event)}
          onClick={(event) => this.click(event)}
        >
          <div class="lane ruler" aria-hidden="true">
            <span class="who" />
            <div class="track">
              {picture.ticks.map((tick) => (
                <span key={tick.at} class="tick" style={{ "--left": String(tick.left) }}>
                  {tick.text}
                </span>
              ))}
            </div>
          </div>
          {picture.lanes.map((lane) => (
            <Lane key={lane.numbers} lane={lane} at={this.at} />
          ))}
        </div>
      </>
    );
  }

  private pictureOf(way: TransactionWay): WayPicture {
    return wayPicture(way, 800 * this.zoom);
  }

  private get picture(): WayPicture | undefined {
    const way = waysOf(this.props.opened, this.type)[this.index];
    return way && this.pictureOf(way);
  }

  /** Another transaction: seen whole, from its beginning. */
  private begin(index: number): void {
    this.index = index;
    this.zoom = 1;
    this.at = 0;
    this.forceUpdate();
  }

  private bar(order: number): HTMLElement | undefined {
    return this.drawing.current?.querySelector<HTMLElement>(`.stay[data-order="${order}"]`) ?? undefined;
  }

  /** Whether a stay has the focus, and not the whole timeline. */
  private get isOnBar(): boolean {
    return this.drawing.current?.querySelector(".stay:focus") != null;
  }

  private focus(order: number): void {
    this.at = order;
    this.forceUpdate();
    const bar = this.bar(order);
    bar?.focus({ preventScroll: true });
    bar?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Zooms around the stay that has the focus; by 0: shows all. */
  private scale(by: number): void {
    this.zoom = by === 0 ? 1 : Math.min(Math.max(this.zoom * by, 1), widest);
    this.forceUpdate();
    this.bar(this.at)?.scrollIntoView({ block: "nearest", inline: "center" });
  }

  private click(event: MouseEvent): void {
    const bar = event.target instanceof Element ? event.target.closest<HTMLElement>(".stay") : null;
    if (bar === null) {
      return;
    }
    this.focus(Number(bar.dataset.order));
    if (event.detail === 2) {
      this.goToSource();
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const by = { "+": 2, "=": 2, "-": 0.5, "0": 0 }[event.key];
    const screens = { PageDown: 0.9, PageUp: -0.9 }[event.key];
    const to = this.target(event.key);
    const drawing = this.drawing.current;
    if (by !== undefined) {
      this.scale(by);
    } else if (screens !== undefined) {
      drawing?.scrollBy({ left: screens * drawing.clientWidth });
    } else if (to !== undefined) {
      this.focus(to);
    } else if (event.key === "Enter") {
      this.goToSource();
    } else {
      return;
    }
    event.preventDefault();
  }

  private goToSource(): void {
    const source = barsOf(this.picture).find(({ order }) => order === this.at)?.source ?? null;
    if (source !== null) {
      this.props.go(source);
    }
  }

  /** The stay that a key goes to; `undefined` for any other key. */
  private target(key: string): number | undefined {
    const bars = barsOf(this.picture);
    const position = bars.findIndex(({ order }) => order === this.at);
    switch (key) {
      case "ArrowRight":
        return bars[this.isOnBar ? Math.min(position + 1, bars.length - 1) : position]?.order;
      case "ArrowLeft":
        return bars[this.isOnBar ? Math.max(position - 1, 0) : position]?.order;
      case "Home":
        return bars[0]?.order;
      case "End":
        return bars.at(-1)?.order;
      case "ArrowDown":
        return this.inLane(1);
      case "ArrowUp":
        return this.inLane(-1);
      default:
        return undefined;
    }
  }

  /** The stay of the next thread that is the nearest in time. */
  private inLane(step: number): number {
    const lanes = this.picture?.lanes ?? [];
    const here = lanes.findIndex((lane) => lane.bars.some(({ order }) => order === this.at));
    const from = lanes[here]?.bars.find(({ order }) => order === this.at)?.left ?? 0;
    const bars = lanes[here + step]?.bars ?? [];
    const nearest = [...bars].sort((a, b) => Math.abs(a.left - from) - Math.abs(b.left - from))[0];
    return nearest?.order ?? this.at;
  }
}

/** All bars, in the order of the way. */
function barsOf(picture: WayPicture | undefined): WayBar[] {
  return (picture?.lanes ?? []).flatMap((lane) => lane.bars).sort((a, b) => a.order - b.order);
}

/** `at`: the stay that is a tab stop. */
function Lane({ lane, at }: { lane: WayLane; at: number }): VNode {
  return (
    <div class="lane">
      <span class="who" title={`${lane.name}, ${lane.numbers}`}>
        <span>{lane.name}</span>
        <small>{lane.numbers}</small>
      </span>
      <div class="track">
        {lane.bars.map((bar) => (
          <Bar key={bar.order} bar={bar} isStop={bar.order === at} />
        ))}
      </div>
    </div>
  );
}

function Bar({ bar, isStop }: { bar: WayBar; isStop: boolean }): VNode {
  const { left, width, stage, look, spoken, order, source } = bar;
  return (
    <span
      class={`stay look${look}${source === null ? "" : " source"}`}
      title={source === null ? spoken : `${spoken}. It came by ${source}: Enter or a double click goes there.`}
      role="img"
      aria-label={spoken}
      tabindex={isStop ? 0 : -1}
      data-order={order}
      style={{ "--left": String(left), "--width": String(width) }}
    >
      {stage}
    </span>
  );
}
