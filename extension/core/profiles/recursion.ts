/** Functions that call themselves: many equal names in a row say no more than one with their number. */

/** A name, and how often it occurs in a row. */
export interface Folded<T> {
  item: T;
  times: number;
}

/** So many equal names are written out. */
const least = 3;

/** Equal neighbours as one, the first of them. */
export function foldRecursion<T>(items: readonly T[], nameOf: (item: T) => string): Folded<T>[] {
  const folded: Folded<T>[] = [];
  for (let from = 0; from < items.length; ) {
    const [item] = items.slice(from, from + 1) as [T];
    let end = from + 1;
    while (end < items.length && nameOf(items[end] as T) === nameOf(item)) {
      end += 1;
    }
    if (end - from >= least) {
      folded.push({ item, times: end - from });
    } else {
      folded.push(...items.slice(from, end).map((item) => ({ item, times: 1 })));
    }
    from = end;
  }
  return folded;
}

/** ` ×17`; empty for a name that occurs once or twice. */
export function timesText(times: number): string {
  return times < least ? "" : ` ×${times}`;
}

/** Names with long recursion folded: `main`, `walk ×17`. `shown` is how a name is written. */
export function foldedNames(names: readonly string[], shown = (name: string) => name): string[] {
  return foldRecursion(names, (name) => name).map(({ item, times }) => shown(item) + timesText(times));
}
