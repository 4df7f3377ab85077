/** The pages of the refine loop and of two traces compared: their scripts fill them. No `vscode` in here. */
import { type PageAssets, pageHtml } from "./page";

export function refineHtml(assets: PageAssets): string {
  return pageHtml("Refine", `<main id="page" aria-label="Refine loop"></main>`, assets);
}

export function traceCompareHtml(assets: PageAssets): string {
  return pageHtml("Traces compared", `<main id="page" aria-label="Two traces compared"></main>`, assets);
}
