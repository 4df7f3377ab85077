/**
 * The plot in a hover, in colours of the theme. It is a picture in Markdown, which no style of the editor reaches: its two
 * colours are exchanged before it is shown, each time anew.
 */
import { type Colours, drawnByEngine } from "../themeColours";

/** The Markdown of a hover with all its plots in these colours; everything else is as it was. */
export function plotInColours(markdown: string, colours: Colours): string {
  return markdown.replace(/(data:image\/svg\+xml;base64,)([A-Za-z0-9+/=]+)/g, (_, begin: string, data: string) => {
    const svg = Buffer.from(data, "base64").toString("utf8");
    const coloured = svg.replace(/"(#[0-9a-f]{6})"/g, (whole, colour: string) => {
      const id = drawnByEngine[colour];
      return id === undefined ? whole : `"${colours(id)}"`;
    });
    return begin + Buffer.from(coloured, "utf8").toString("base64");
  });
}
