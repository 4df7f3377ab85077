/** Bundles the extension with esbuild: one file for the extension host, and one for each webview. */
import path from "node:path";
import { root } from "./steps.mjs";

const webviews = [
  "navigator/navigator.tsx",
  "flame/flame.tsx",
  "trace/trace.tsx",
  "trace/refine.tsx",
  "trace/traceCompare.tsx",
  "causal/compare.tsx",
  "transactions/transactions.tsx",
  "transactions/transactionsCompare.tsx",
  "file.tsx",
];

/**
 * The build options for a folder with extension.js and webview/*.js.
 * @param {string} folder
 * @param {import("esbuild").BuildOptions} options
 * @returns {import("esbuild").BuildOptions[]}
 */
function builds(folder, options) {
  /** @type {import("esbuild").BuildOptions} */
  const common = { bundle: true, logLevel: "error", ...options };
  return [
    {
      ...common,
      entryPoints: [path.join(root, "extension", "extension.ts")],
      outfile: path.join(folder, "extension.js"),
      platform: "node",
      format: "cjs",
      target: "node20",
      external: ["vscode"],
      mainFields: ["module", "main"],
    },
    {
      ...common,
      entryPoints: webviews.map((name) => path.join(root, "extension", "webview", name)),
      outdir: path.join(folder, "webview"),
      entryNames: "[name]",
      platform: "browser",
      format: "iife",
      target: "es2022",
      sourcemap: false,
    },
  ];
}

/**
 * Writes extension.js and webview/*.js into a folder.
 * @param {string} folder
 * @param {import("esbuild").BuildOptions} [options]
 */
export async function bundleExtension(folder, options = {}) {
  const { build } = await import("esbuild");
  await Promise.all(builds(folder, options).map((it) => build(it)));
}

/**
 * Writes them now, and again whenever a source changes, until the process ends.
 * @param {string} folder
 * @param {{ begin: () => void, end: (errors: import("esbuild").Message[]) => void }} listener called when a build begins
 * and, after the last build, with its errors
 */
export async function watchExtension(folder, { begin, end }) {
  const { context } = await import("esbuild");
  /** @type {Map<number, import("esbuild").Message[]>} */
  const errors = new Map();
  let building = 0;
  /** @type {(index: number) => import("esbuild").Plugin} */
  const tell = (index) => ({
    name: "tell",
    setup(build) {
      build.onStart(() => {
        building += 1;
        if (building === 1) {
          begin();
        }
      });
      build.onEnd((result) => {
        errors.set(index, result.errors);
        building -= 1;
        if (building === 0) {
          end([...errors.values()].flat());
        }
      });
    },
  });
  const options = builds(folder, { sourcemap: "linked", logLevel: "silent" });
  await Promise.all(
    options.map(async (it, index) => {
      const watching = await context({ ...it, plugins: [tell(index)] });
      await watching.watch();
    }),
  );
}
