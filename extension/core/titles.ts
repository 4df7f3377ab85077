/** Titles of profiles and comparisons where there is little room: names differ at their ends, so their middles go. */

/** What stands between both sides of a comparison's title, as the engine makes it. */
export const against = " \u2212 ";
/** So much of a name's end is always seen. */
const tailLength = 10;

/** The sides of a comparison, or the one profile. */
function sidesOf(title: string): string[] {
  return title.split(against);
}

/** A name for a place that may be too narrow: its beginning can be cut, its end stays. */
export interface CutName {
  head: string;
  tail: string;
}

/** Each side apart, so that neither pushes the other out. A short name is not cut. */
export function cutNames(title: string): CutName[] {
  return sidesOf(title).map((name) => {
    const at = name.length > tailLength + 4 ? name.length - tailLength : 0;
    return { head: name.slice(0, at), tail: name.slice(at) };
  });
}

/** At most so many characters, each side cut in its middle. */
export function shortTitle(title: string, most: number): string {
  const sides = sidesOf(title);
  if (title.length <= most) {
    return title;
  }
  const each = Math.floor((most - against.length * (sides.length - 1)) / sides.length);
  // What a short side leaves is for the other.
  const left = sides.reduce((sum, side) => sum + Math.max(0, each - side.length), 0);
  return sides.map((side) => middle(side, each + left)).join(against);
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
