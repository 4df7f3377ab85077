/**
 * A tree of which only the rows on screen exist: their positions, which rows to request, and where keys lead.
 *
 * A branch knows how many rows are directly below it; the rows themselves come page by page. Finding the row at a position
 * takes time in what is open on the way to it, not in how many rows there are.
 */

export interface HasChildren {
  /** How many rows are directly below. */
  children: number;
}

/** Rows are asked for in pages, so that a turn of the wheel is not a request a row. */
const page = 100;

export class Branch<R extends HasChildren> {
  /** Rows that have come, by their place among their siblings. */
  readonly rows = new Map<number, R>();
  open = true;
  /** Rows below it that would be visible if it was open. */
  size: number;
  private readonly branches = new Map<number, Branch<R>>();
  /** Places of branches that are open, ascending. */
  private opened: number[] = [];

  constructor(
    readonly total: number,
    readonly parent: Branch<R> | undefined,
    /** Its own row's place in its parent. */
    readonly index: number,
    readonly depth: number,
  ) {
    this.size = total;
  }

  branch(index: number): Branch<R> | undefined {
    return this.branches.get(index);
  }

  isOpen(index: number): boolean {
    return this.branches.get(index)?.open === true;
  }

  /** Opens or closes what is below a row. */
  set(index: number, open: boolean): void {
    let branch = this.branches.get(index);
    if (branch === undefined) {
      branch = new Branch<R>(this.rows.get(index)?.children ?? 0, this, index, this.depth + 1);
      branch.open = false;
      this.branches.set(index, branch);
    }
    if (branch.open === open) {
      return;
    }
    branch.open = open;
    this.opened = open ? [...this.opened, index].sort((a, b) => a - b) : this.opened.filter((it) => it !== index);
    this.grow(open ? branch.size : -branch.size);
  }

  private grow(by: number): void {
    this.size += by;
    if (this.open) {
      this.parent?.grow(by);
    }
  }

  /** The branch and the place of the visible row `at` rows below this one. */
  locate(at: number): { branch: Branch<R>; index: number } {
    let before = 0;
    for (const index of this.opened) {
      const below = this.branches.get(index) as Branch<R>;
      if (at <= before + index) {
        break;
      }
      if (at <= before + index + below.size) {
        return below.locate(at - before - index - 1);
      }
      before += below.size;
    }
    return { branch: this, index: at - before };
  }

  /** How many visible rows are between this branch's own row and one of its rows. */
  offset(index: number): number {
    let offset = index;
    for (const open of this.opened) {
      if (open >= index) {
        break;
      }
      offset += this.branches.get(open)?.size ?? 0;
    }
    return offset;
  }

  /** This branch and all in it that were ever opened. */
  *all(): Generator<Branch<R>> {
    yield this;
    for (const branch of this.branches.values()) {
      yield* branch.all();
    }
  }
}

export interface Entry<R extends HasChildren> {
  branch: Branch<R>;
  index: number;
  depth: number;
  /** Undefined until it has come. */
  row: R | undefined;
  open: boolean;
}

export class LazyTree<R extends HasChildren> {
  readonly root: Branch<R>;

  /** The rows at the top are all there. */
  constructor(top: readonly R[]) {
    this.root = new Branch<R>(top.length, undefined, -1, 0);
    for (const [index, row] of top.entries()) {
      this.root.rows.set(index, row);
    }
  }

  get length(): number {
    return this.root.size;
  }

  entry(at: number): Entry<R> | undefined {
    if (at < 0 || at >= this.length) {
      return undefined;
    }
    const { branch, index } = this.root.locate(at);
    return { branch, index, depth: branch.depth, row: branch.rows.get(index), open: branch.isOpen(index) };
  }

  /** A row's position; its branch and all those around it must be open. */
  position(branch: Branch<R>, index: number): number {
    const own = branch.parent === undefined ? 0 : this.position(branch.parent, branch.index) + 1;
    return own + branch.offset(index);
  }

  /** Opens or closes a row; false when there is nothing below it, or it is so already. */
  set(at: number, open: boolean): boolean {
    const entry = this.entry(at);
    if (entry?.row === undefined || entry.row.children === 0 || entry.open === open) {
      return false;
    }
    entry.branch.set(entry.index, open);
    return true;
  }

  /** The pages that hold these rows and have not come yet. */
  missing(first: number, end: number): { branch: Branch<R>; from: number; count: number }[] {
    const wanted = new Map<Branch<R>, Set<number>>();
    for (let at = Math.max(first, 0); at < Math.min(end, this.length); at += 1) {
      const { branch, index } = this.root.locate(at);
      if (!branch.rows.has(index)) {
        const pages = wanted.get(branch) ?? new Set();
        wanted.set(branch, pages.add(index - (index % page)));
      }
    }
    return [...wanted].flatMap(([branch, pages]) =>
      [...pages].map((from) => ({ branch, from, count: Math.min(page, branch.total - from) })),
    );
  }

  /** The page that holds a row. */
  pageOf(branch: Branch<R>, index: number): { from: number; count: number } {
    const from = index - (index % page);
    return { from, count: Math.min(page, branch.total - from) };
  }

  receive(branch: Branch<R>, from: number, rows: readonly R[]): void {
    for (const [n, row] of rows.entries()) {
      branch.rows.set(from + n, row);
    }
  }

  /** Requests all rows again; what is open stays open. The top is known. */
  forgetRows(): void {
    for (const branch of this.root.all()) {
      if (branch !== this.root) {
        branch.rows.clear();
      }
    }
  }

  /** The row that a key leads to; undefined: it stays. */
  move(at: number, key: string, pageRows: number): number | undefined {
    const last = this.length - 1;
    const go = (to: number) => (to === at || last < 0 ? undefined : Math.min(Math.max(to, 0), last));
    switch (key) {
      case "ArrowDown":
        return go(at + 1);
      case "ArrowUp":
        return go(at - 1);
      case "PageDown":
        return go(at + pageRows);
      case "PageUp":
        return go(at - pageRows);
      case "Home":
        return go(0);
      case "End":
        return go(last);
      default:
        return undefined;
    }
  }

  /** The row that this one is below; undefined at the top. */
  parentOf(at: number): number | undefined {
    const entry = this.entry(at);
    const { parent, index } = entry?.branch ?? {};
    return parent === undefined || index === undefined ? undefined : this.position(parent, index);
  }
}
