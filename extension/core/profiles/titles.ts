/** Titles of profiles and comparisons where there is little room: what two names have in common goes first. */

/** The separator of a comparison's two sides in its title, as the engine writes it. */
export const against = " \u2212 ";
/** So much of a name's end is always seen. */
const tailLength = 10;

/** The sides of a comparison, or the one profile. */
function sidesOf(title: string): string[] {
  return title.split(against);
}

/** A name for a place that may be too narrow: its beginning and its end can be cut, what is between them stays. */
export interface CutName {
  head: string;
  kept: string;
  tail: string;
}

/** Each side separately, so that neither displaces the other; of each, what differs from the other is kept. */
export function cutNames(title: string): CutName[] {
  const sides = sidesOf(title);
  const [a, b] = sides;
  if (a === undefined || b === undefined || sides.length > 2) {
    return sides.map(endKept);
  }
  const { begin, end } = common(a, b);
  return [a, b].map((name) => {
    const differs = name.length - begin - end;
    // Names with little in common also differ at their ends.
    if (differs > 2 * tailLength) {
      return endKept(name);
    }
    return {
      head: name.slice(0, begin),
      kept: name.slice(begin, name.length - end),
      tail: name.slice(name.length - end),
    };
  });
}

/** A short name is not cut. */
function endKept(name: string): CutName {
  const at = name.length > tailLength + 4 ? name.length - tailLength : 0;
  return { head: name.slice(0, at), kept: name.slice(at), tail: "" };
}

/** How many letters two names share at their beginnings and ends, in whole words and numbers. */
function common(a: string, b: string): { begin: number; end: number } {
  const most = Math.min(a.length, b.length);
  let begin = 0;
  while (begin < most && a[begin] === b[begin]) {
    begin += 1;
  }
  let end = 0;
  while (end < most - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) {
    end += 1;
  }
  const inWord = (text: string, at: number) => /^\w\w$/.test(text.slice(at - 1, at + 1));
  while (begin > 0 && (inWord(a, begin) || inWord(b, begin))) {
    begin -= 1;
  }
  while (end > 0 && (inWord(a, a.length - end) || inWord(b, b.length - end))) {
    end -= 1;
  }
  return { begin, end };
}

/** At most so many characters, each side cut where it is like the other, else in its middle. */
export function shortTitle(title: string, most: number): string {
  if (title.length <= most) {
    return title;
  }
  const names = cutNames(title);
  const each = Math.floor((most - against.length * (names.length - 1)) / names.length);
  // What a short side leaves is for the other.
  const left = names.reduce((sum, name) => sum + Math.max(0, each - wholeOf(name).length), 0);
  return names.map((name) => fitted(name, each + left)).join(against);
}

function wholeOf({ head, kept, tail }: CutName): string {
  return head + kept + tail;
}

function fitted(name: CutName, most: number): string {
  const whole = wholeOf(name);
  const room = most - name.kept.length;
  if (whole.length <= most) {
    return whole;
  }
  if (name.tail === "" || room < 4) {
    return middle(whole, most);
  }
  const forTail = Math.min(name.tail.length, Math.floor(room / 2));
  const forHead = Math.min(name.head.length, room - forTail);
  return begun(name.head, forHead) + name.kept + ended(name.tail, room - forHead);
}

function begun(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1))}…`;
}

function ended(text: string, most: number): string {
  return text.length <= most ? text : `…${text.slice(text.length - Math.max(0, most - 1))}`;
}

function middle(text: string, most: number): string {
  if (text.length <= most) {
    return text;
  }
  const end = Math.max(1, Math.floor((most - 1) / 2));
  return `${text.slice(0, Math.max(1, most - 1 - end))}…${text.slice(text.length - end)}`;
}

/** For who points at a title: both sides, whole. */
export function titleHover(title: string): string {
  const [a, b] = sidesOf(title);
  return b === undefined ? title : `A: ${a}\nB: ${b}, the base\nDifferences are A \u2212 B.`;
}
