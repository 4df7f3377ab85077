/** Hovers of the engine, with their plots in the colours of the theme that the editor has at that moment. */
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { plotInColours } from "../../core/causal/hoverPlot";
import { coloursOf, themeKind } from "../marks/themeColours";

export const hoverPlotMiddleware: Middleware = {
  provideHover: async (document, position, token, next) => {
    const hover = await next(document, position, token);
    const colours = coloursOf(themeKind());
    for (const part of hover?.contents ?? []) {
      if (part instanceof vscode.MarkdownString) {
        part.value = plotInColours(part.value, colours);
      }
    }
    return hover;
  },
};
