/** A part of a flame graph as flat arrays, in rows that can be searched. */

/** What the engine sends: boxes that are at least `minimum` wide, between `left` and `right`. */
export interface FlameArrays {
  /** Row of each box; 0 is the root's. */
  depth: readonly number[];
  /** Left edge as a fraction of the whole graph. */
  x: readonly number[];
  /** Width as a fraction of the whole graph. */
  width: readonly number[];
  /** Index into `names`. */
  name: readonly number[];
  /** Index of the label that covers it; -1: none. */
  label: readonly number[];
  /** Including everything above it, in the profile's unit. In a comparison A's. */
  cost: readonly number[];
  /** Its own. In a comparison A's. */
  own: readonly number[];
  /** In a comparison B's cost, including everything above it. */
  against: readonly number[] | null;
  names: readonly string[];
  /** Those of `names` that are processes or threads: no part of a path. */
  containers: readonly number[];
}

export interface Range {
  /** Fractions of the whole graph. */
  left: number;
  right: number;
}

/** Sorted by row, then by left edge, with the rows' beginnings. Boxes of one row do not overlap. */
export class FlameBoxes {
  readonly count: number;
  /** The rows that are here, from row 0 on. */
  readonly rows: number;
  /** The rows that there are, here or not. */
  readonly levels: number;
  readonly x: Float64Array;
  readonly width: Float64Array;
  readonly name: Uint32Array;
  readonly label: Int32Array;
  readonly cost: Float64Array;
  readonly own: Float64Array;
  readonly against: Float64Array | null;
  readonly names: readonly string[];
  /** How deep each box is in its recursion: how many boxes of its name are below it, and it. */
  readonly times: Uint32Array;
  private readonly containers: ReadonlySet<number>;
  /** The greatest difference of a box, to measure others by; 0 without a comparison. */
  readonly mostChange: number;
  /** Where each row begins; one more than there are rows. */
  private readonly starts: Uint32Array;

  constructor(
    arrays: FlameArrays,
    /** The part of the graph that is described. */
    readonly range: Range,
    /** Boxes narrower than this were left out. */
    readonly minimum: number,
    levels = 0,
  ) {
    const { depth, x } = arrays;
    this.count = depth.length;
    this.rows = depth.reduce((most, row) => Math.max(most, row + 1), 0);
    this.levels = Math.max(this.rows, levels);
    const order = Uint32Array.from(depth.keys());
    order.sort((a, b) => at(depth, a) - at(depth, b) || at(x, a) - at(x, b));
    const pick = (values: readonly number[]) => (box: number) => at(values, box);
    this.x = Float64Array.from(order, pick(x));
    this.width = Float64Array.from(order, pick(arrays.width));
    this.name = Uint32Array.from(order, pick(arrays.name));
    this.label = Int32Array.from(order, pick(arrays.label));
    this.cost = Float64Array.from(order, pick(arrays.cost));
    this.own = Float64Array.from(order, pick(arrays.own));
    this.against = arrays.against === null ? null : Float64Array.from(order, pick(arrays.against));
    this.names = arrays.names;
    this.containers = new Set(arrays.containers);
    const changes = (arrays.against ?? []).map((cost, box) => Math.abs(at(arrays.cost, box) - cost));
    this.mostChange = changes.reduce((most, change) => Math.max(most, change), 0);
    this.starts = new Uint32Array(this.rows + 1);
    for (const row of depth) {
      this.starts[row + 1] = (this.starts[row + 1] ?? 0) + 1;
    }
    for (let row = 0; row < this.rows; row += 1) {
      this.starts[row + 1] = (this.starts[row + 1] ?? 0) + (this.starts[row] ?? 0);
    }
    this.times = this.recursion();
  }

  private recursion(): Uint32Array {
    const times = new Uint32Array(this.count).fill(1);
    for (let row = 1; row < this.rows; row += 1) {
      const [first, end] = this.row(row);
      const [start, last] = this.row(row - 1);
      let below = start;
      for (let box = first; box < end; box += 1) {
        const middle = (this.x[box] ?? 0) + (this.width[box] ?? 0) / 2;
        while (below < last && (this.x[below] ?? 0) + (this.width[below] ?? 0) <= middle) {
          below += 1;
        }
        if (below < last && this.nameOf(below) === this.nameOf(box)) {
          times[box] = (times[below] ?? 0) + 1;
        }
      }
    }
    return times;
  }

  /** The boxes of a row, `[first, end)`. */
  row(row: number): [first: number, end: number] {
    return row < 0 || row >= this.rows ? [0, 0] : [this.starts[row] ?? 0, this.starts[row + 1] ?? 0];
  }

  /** The first box of a row, from `first` on, that ends right of `place`; the row's end when there is none. */
  firstEndingAfter(place: number, first: number, end: number): number {
    let [low, high] = [first, end];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.x[middle] ?? 0) + (this.width[middle] ?? 0) > place) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  nameOf(box: number): string {
    return this.names[this.name[box] ?? -1] ?? "";
  }

  /** Whether a box is a process or a thread, which no path has. */
  isContainer(box: number): boolean {
    return this.containers.has(this.name[box] ?? -1);
  }

  covers(range: Range): boolean {
    return this.range.left <= range.left && this.range.right >= range.right;
  }

  /** Whether all of the first `rows` that there are are here. */
  reaches(rows: number): boolean {
    return this.rows >= Math.min(rows, this.levels);
  }
}

/** Pieces of one part that hold its rows one after the other, as one. */
export function joined(pieces: readonly FlameArrays[]): FlameArrays {
  let names = 0;
  const numbered = pieces.map((piece) => {
    const first = names;
    names += piece.names.length;
    const later = (name: number) => first + name;
    return { ...piece, name: piece.name.map(later), containers: piece.containers.map(later) };
  });
  const all = <T>(column: (piece: FlameArrays) => readonly T[]) => numbered.flatMap(column);
  return {
    depth: all((it) => it.depth),
    x: all((it) => it.x),
    width: all((it) => it.width),
    name: all((it) => it.name),
    label: all((it) => it.label),
    cost: all((it) => it.cost),
    own: all((it) => it.own),
    against: pieces.some((it) => it.against === null) ? null : all((it) => it.against ?? []),
    names: all((it) => it.names),
    containers: all((it) => it.containers),
  };
}

/** The last few parts that were fetched: going back and forth needs no engine. */
export class FlameTiles {
  private readonly tiles: FlameBoxes[] = [];
  private readonly outdated = new WeakSet<FlameBoxes>();

  constructor(private readonly most = 12) {}

  /** The boxes' places stay, but the rest is outdated: shown until the engine sends them again. */
  outdate(): void {
    for (const tile of this.tiles) {
      this.outdated.add(tile);
    }
  }

  add(tile: FlameBoxes): void {
    const replaced = this.tiles.findIndex((it) => this.outdated.has(it) && tile.covers(it.range));
    if (replaced >= 0) {
      this.tiles[replaced] = tile;
      return;
    }
    this.tiles.push(tile);
    if (this.tiles.length > this.most) {
      // The first is the overview, which every view can fall back on.
      this.tiles.splice(1, 1);
    }
  }

  /**
   * What to draw for a range: of the parts that hold it, the coarsest that still has every box of `minimum` and every one of
   * `rows`; when there is none, the finest, if possible of those with all rows. `enough` is false when the engine should be
   * asked for more.
   */
  best(range: Range, minimum: number, rows = 1): { tile: FlameBoxes | undefined; enough: boolean } {
    const holding = this.tiles.filter((tile) => tile.covers(range));
    const deep = holding.filter((tile) => tile.reaches(rows));
    const fine = deep.filter((tile) => tile.minimum <= minimum * 1.001 && !this.outdated.has(tile));
    if (fine.length > 0) {
      return { tile: fine.sort((a, b) => b.minimum - a.minimum)[0], enough: true };
    }
    const next = deep.length > 0 ? deep : holding;
    return { tile: next.sort((a, b) => a.minimum - b.minimum || b.rows - a.rows)[0], enough: false };
  }
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? 0;
}
