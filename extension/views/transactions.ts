/** The pages of a transactional profile and of two compared: their scripts fill them. No `vscode` in here. */
import { type PageAssets, pageHtml } from "./page";

export function transactionsHtml(assets: PageAssets): string {
  return pageHtml("Transactions", `<main id="page" aria-label="Transactions"></main>`, assets);
}

export function transactionsCompareHtml(assets: PageAssets): string {
  return pageHtml(
    "Transactions compared",
    `<main id="page" aria-label="Two runs of transactions compared"></main>`,
    assets,
  );
}
