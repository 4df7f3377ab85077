/** What esbuild makes of the extension: one file for the extension host, and one for each webview. */
import path from "node:path";
import { root } from "./steps.mjs";

const webviews = ["navigator", "flame", "trace", "refine", "traceCompare"];

/**
 * Writes extension.js and webview/*.js into a folder.
 * @param {string} folder
 * @param {import("esbuild").BuildOptions} [options]
 */
export async function bundleExtension(folder, options = {}) {
  const { build } = await import("esbuild");
  const common = { bundle: true, logLevel: "error", ...options };
  await Promise.all([
    build({
      ...common,
      entryPoints: [path.join(root, "extension", "extension.ts")],
      outfile: path.join(folder, "extension.js"),
      platform: "node",
      format: "cjs",
      target: "node20",
      external: ["vscode"],
      mainFields: ["module", "main"],
    }),
    build({
      ...common,
      entryPoints: webviews.map((name) => path.join(root, "extension", "webview", `${name}.ts`)),
      outdir: path.join(folder, "webview"),
      platform: "browser",
      format: "iife",
      target: "es2022",
      sourcemap: false,
    }),
  ]);
}
