/** Which parts of a flame graph to ask the engine for: each once, unless it could not be had or was given up since. */
import type { FlameTiles, Range } from "./boxes";
import type { Need, Section } from "./messages";

/** Rows that are asked for at first. Twice as many whenever they do not suffice, so that scrolling is not a request a row. */
const firstRows = 300;

export class Needs {
  private readonly asked = new Set<string>();

  /** What a view of this range, with boxes of `minimum` and this many rows, lacks; undefined when it was asked for already. */
  of(section: Section, tiles: FlameTiles, target: Range, minimum: number, rows: number): Need | undefined {
    if (tiles.best(target, minimum, rows).enough) {
      return undefined;
    }
    // A little more on both sides, so that moving sideways shows something at once.
    const air = (target.right - target.left) / 2;
    const range = { left: Math.max(0, target.left - air), right: Math.min(1, target.right + air) };
    const depths = firstRows * 2 ** Math.max(0, Math.ceil(Math.log2(rows / firstRows)));
    const need = { section, range, minimum, depths };
    if (this.asked.has(keyOf(need))) {
      return undefined;
    }
    this.asked.add(keyOf(need));
    return need;
  }

  /** It is there, and may be asked for again when it had to go. What is not what was asked for would never end. */
  answered(need: Need, tiles: FlameTiles): void {
    if (tiles.best(need.range, need.minimum, need.depths).enough) {
      this.asked.delete(keyOf(need));
    }
  }

  /** It may be asked for again. */
  failed(need: Need): void {
    this.asked.delete(keyOf(need));
  }

  clear(): void {
    this.asked.clear();
  }
}

function keyOf({ section, range, minimum, depths }: Need): string {
  return `${section} ${range.left} ${range.right} ${minimum} ${depths}`;
}
