/**
 * The nine shapes: sparklines whose direction says what a faster line does to the program, readable without colour.
 *
 * A gutter cell is 19×19 px. Colours in a gutter image are fixed: it is made for each kind of theme.
 */
import type { LineShape } from "../engine/protocol";
import type { ColourId, Colours } from "../themeColours";

export type Tone = "gain" | "flat" | "harm" | "unknown";

/** Height that the line gains over the cell, in pixels; negative falls. */
const rises: Readonly<Record<Exclude<LineShape, "unknown">, number>> = {
  gain4: 13,
  gain3: 9.5,
  gain2: 6.5,
  gain1: 3.5,
  flat: 0,
  harm1: -4,
  harm2: -8,
  harm3: -13,
};

const colourIds: Readonly<Record<Tone, ColourId>> = {
  gain: "fulcrum.gutterGain",
  flat: "fulcrum.gutterFlat",
  harm: "fulcrum.gutterHarm",
  unknown: "fulcrum.gutterUnknown",
};

export function toneOf(shape: LineShape): Tone {
  if (shape.startsWith("gain")) {
    return "gain";
  }
  return shape.startsWith("harm") ? "harm" : (shape as "flat" | "unknown");
}

/** Height and width of a gutter cell, in pixels. */
export const gutterSize = 19;
/** Small enough not to make a line of text higher. */
export const inlineSize = 13;

/** The shape as a square SVG document, `size` pixels wide. `stale` draws it grey and dashed. */
export function shapeSvg(shape: LineShape, colours: Colours, stale: boolean, size = gutterSize): string {
  const colour = colours(stale ? "fulcrum.gutterStale" : colourIds[toneOf(shape)]);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 19 19">${body(shape, colour, stale)}</svg>`;
}

export function shapeDataUri(shape: LineShape, colours: Colours, stale: boolean, size = gutterSize): string {
  return `data:image/svg+xml;base64,${Buffer.from(shapeSvg(shape, colours, stale, size), "utf8").toString("base64")}`;
}

function body(shape: LineShape, colour: string, stale: boolean): string {
  const dash = stale ? ' stroke-dasharray="2.4 2"' : "";
  if (shape === "unknown") {
    return `<circle cx="9.5" cy="9.5" r="3.6" fill="none" stroke="${colour}" stroke-width="1.5"${dash}/>`;
  }
  const left = 3;
  const right = 15.5;
  const rise = rises[shape];
  const start = 9.5 + rise / 2;
  const end = 9.5 - rise / 2;
  const base = Math.max(start, end) + 0.8;
  const wedge =
    rise === 0 || stale
      ? ""
      : `<path d="M${left} ${start} L${right} ${end} V${base} H${left} Z" fill="${colour}" fill-opacity=".24"/>`;
  const line = `<path d="M${left} ${start} L${right} ${end}" fill="none" stroke="${colour}" stroke-width="2" stroke-linecap="round"${dash}/>`;
  const dot = `<circle cx="${right}" cy="${end}" r="2" fill="${colour}"/>`;
  return wedge + line + dot;
}
