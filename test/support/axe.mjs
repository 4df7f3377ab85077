/** What axe-core finds in a webview's page: names, roles, contrast. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./root.mjs";

const source = readFileSync(path.join(root, "node_modules", "axe-core", "axe.min.js"), "utf8");

/**
 * The violations that axe calls serious or critical, one line each.
 * @param {import("playwright-core").Frame} frame
 * @param {"editor" | "sideBar"} place where it is shown
 */
export async function seriousIn(frame, place) {
  await frame.evaluate(source);
  return frame.evaluate(findSerious, `var(--vscode-${place}-background)`);
}

/** Runs in the page. The page is transparent, and axe does not see what is behind it. */
async function findSerious(background) {
  document.documentElement.style.background = background;
  /** @type {typeof import("axe-core")} */
  const axe = Reflect.get(window, "axe");
  const { violations } = await axe.run(document, {
    resultTypes: ["violations"],
    // Experimental in axe. Voice control works only if a control's name contains its visible text.
    rules: { "label-content-name-mismatch": { enabled: true } },
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary = "" }) => {
        const why = failureSummary.split("\n").slice(1, 2).join("").trim();
        return `${id}: ${target.join(" ")}: ${why}`;
      }),
    );
}
