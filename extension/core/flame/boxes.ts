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
  /** With all that stands on it, in the profile's unit. In a comparison A's. */
  cost: readonly number[];
  /** Its own. In a comparison A's. */
  own: readonly number[];
  /** In a comparison B's cost, with all that stands on it. */
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
  readonly rows: number;
  readonly x: Float64Array;
  readonly width: Float64Array;
  readonly name: Uint32Array;
  readonly label: Int32Array;
  readonly cost: Float64Array;
  readonly own: Float64Array;
  readonly against: Float64Array | null;
  readonly names: readonly string[];
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
    /** Rows from this one on were left out. */
    readonly depths = Number.POSITIVE_INFINITY,
  ) {
    const { depth, x } = arrays;
    this.count = depth.length;
    this.rows = depth.reduce((most, row) => Math.max(most, row + 1), 0);
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
}

/** The last few parts that were fetched: going back and forth needs no engine. */
export class FlameTiles {
  private readonly tiles: FlameBoxes[] = [];

  constructor(private readonly most = 12) {}

  add(tile: FlameBoxes): void {
    this.tiles.push(tile);
    if (this.tiles.length > this.most) {
      // The first is the overview, which every view can fall back on.
      this.tiles.splice(1, 1);
    }
  }

  /**
   * What to draw for a range: of the parts that hold it, the coarsest that still has every box of `minimum` and every one of
   * `rows`; when there is none, the finest. `enough` is false when the engine should be asked for more.
   */
  best(range: Range, minimum: number, rows = 1): { tile: FlameBoxes | undefined; enough: boolean } {
    const holding = this.tiles.filter((tile) => tile.covers(range));
    // A part that ends where its rows were cut has more below.
    const deep = (tile: FlameBoxes) => tile.rows < tile.depths || tile.depths >= rows;
    const fine = holding.filter((tile) => tile.minimum <= minimum * 1.001 && deep(tile));
    const enough = fine.length > 0;
    const order = (a: FlameBoxes, b: FlameBoxes) => (enough ? b.minimum - a.minimum : a.minimum - b.minimum);
    return { tile: (enough ? fine : holding).sort(order)[0], enough };
  }
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? 0;
}
