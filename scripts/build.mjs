/** `npm run build`: everything that the packaged extension holds. */
import { bootstrap } from "./bootstrap.mjs";
import { main } from "./lib/steps.mjs";

await main(import.meta.url, bootstrap);
