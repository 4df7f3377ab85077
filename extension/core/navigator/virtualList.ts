/** A list of any length of which only the rows on screen exist: their positions, which to request, and where keys lead. */

/** One list under a heading, and perhaps a remark below its rows. */
export interface ListPart {
  count: number;
  footer: boolean;
}

export type Entry =
  | { kind: "heading"; part: number }
  | { kind: "row"; part: number; index: number }
  | { kind: "footer"; part: number };

export interface RowRange {
  part: number;
  from: number;
  count: number;
}

/** Which of many rows of one height a screen shows, and a few more on both sides: `[first, end)`. */
export function rowsInSight(
  count: number,
  { scrolled, height, rowHeight }: { scrolled: number; height: number; rowHeight: number },
  extra = 4,
): [first: number, end: number] {
  const first = Math.min(count, Math.max(0, Math.floor(scrolled / rowHeight) - extra));
  const end = Math.min(count, Math.ceil((scrolled + height) / rowHeight) + extra);
  return [first, Math.max(first, end)];
}

/** Rows are asked for in pages, so that a turn of the wheel is not a request a row. */
const page = 50;

export class VirtualList {
  readonly length: number;
  /** The entry at which each part begins. */
  private readonly begins: number[] = [];

  constructor(private readonly parts: readonly ListPart[]) {
    let length = 0;
    for (const { count, footer } of parts) {
      this.begins.push(length);
      length += 1 + count + (footer ? 1 : 0);
    }
    this.length = length;
  }

  entry(at: number): Entry | undefined {
    if (at < 0 || at >= this.length) {
      return undefined;
    }
    const part = this.begins.findLastIndex((begin) => begin <= at);
    const index = at - (this.begins[part] ?? 0) - 1;
    if (index < 0) {
      return { kind: "heading", part };
    }
    return index < (this.parts[part]?.count ?? 0) ? { kind: "row", part, index } : { kind: "footer", part };
  }

  /** A row's position. */
  position(part: number, index: number): number {
    return (this.begins[part] ?? 0) + 1 + index;
  }

  /** The entries that a screen shows, a few more on both sides. */
  visible(scrolled: number, height: number, rowHeight: number, extra = 4): [first: number, end: number] {
    return rowsInSight(this.length, { scrolled, height, rowHeight }, extra);
  }

  /** The pages with the rows of these entries, other than those that `has` knows. */
  missing(first: number, end: number, has: (part: number, index: number) => boolean): RowRange[] {
    const wanted = new Map<string, RowRange>();
    for (let at = first; at < end; at += 1) {
      const entry = this.entry(at);
      if (entry?.kind === "row" && !has(entry.part, entry.index)) {
        const from = entry.index - (entry.index % page);
        const count = Math.min(page, (this.parts[entry.part]?.count ?? 0) - from);
        wanted.set(`${entry.part}:${from}`, { part: entry.part, from, count });
      }
    }
    return [...wanted.values()];
  }

  /** The row that a key leads to from an entry, or from before the first (-1); undefined: stay. */
  move(at: number, key: string, pageRows: number): number | undefined {
    switch (key) {
      case "ArrowDown":
        return this.nearestRow(at + 1, 1);
      case "ArrowUp":
        return this.nearestRow(at - 1, -1);
      case "PageDown":
        return this.nearestRow(Math.min(at + pageRows, this.length - 1), 1) ?? this.nearestRow(this.length - 1, -1);
      case "PageUp":
        return this.nearestRow(Math.max(at - pageRows, 0), -1) ?? this.nearestRow(0, 1);
      case "Home":
        return this.nearestRow(0, 1);
      case "End":
        return this.nearestRow(this.length - 1, -1);
      default:
        return undefined;
    }
  }

  private nearestRow(from: number, direction: 1 | -1): number | undefined {
    for (let at = from; at >= 0 && at < this.length; at += direction) {
      if (this.entry(at)?.kind === "row") {
        return at;
      }
    }
    return undefined;
  }
}
