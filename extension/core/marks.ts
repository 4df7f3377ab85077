/** Marks beside the lines of one document: shapes, texts, and bars in the overview ruler. Lines are 0-based. */

export interface Marks<Kind extends string = string, Tone extends string = string> {
  shapes: ShapeMark<Kind>[];
  texts: TextMark<Tone>[];
  ruler: RulerMark<Tone>[];
}

export interface ShapeMark<Kind extends string = string> {
  line: number;
  kind: Kind;
  /** The line changed since it was measured. */
  stale: boolean;
}

export interface TextMark<Tone extends string = string> {
  line: number;
  text: string;
  tone: Tone;
}

export interface RulerMark<Tone extends string = string> {
  line: number;
  tone: Tone;
}
