/** The page of a transactional profile: its script fills it. No `vscode` in here. */
import { type PageAssets, pageHtml } from "./page";

export function transactionsHtml(assets: PageAssets): string {
  return pageHtml("Transactions", `<main id="page" aria-label="Transactions"></main>`, assets);
}
