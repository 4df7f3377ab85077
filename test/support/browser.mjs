/** Chromium for a real workbench: the one on PATH. */
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";

/** The time limit of anything in a page, in milliseconds, on any machine. */
export const limit = 240_000;

/** CHROMIUM, or the first browser on PATH. */
export function chromiumBinary() {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const candidates = [
    process.env.CHROMIUM,
    ...names.flatMap((name) => folders.map((folder) => path.join(folder, name))),
  ];
  const found = candidates.find((file) => {
    try {
      accessSync(file ?? "", constants.X_OK);
      return Boolean(file);
    } catch {
      return false;
    }
  });
  if (found === undefined) {
    throw new Error(
      "There is no Chromium on PATH. On Debian: apt-get install chromium. Elsewhere set CHROMIUM to a browser.",
    );
  }
  return found;
}

export function launchBrowser() {
  return chromium.launch({
    executablePath: chromiumBinary(),
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
}

/**
 * A page with the workbench of the server at this address.
 * @param {import("playwright-core").Browser} browser
 * @param {string} address
 * @param {{ trusted?: boolean, scale?: number }} [options] `trusted: false` does what the server does without
 *   `--disable-workspace-trust`
 */
export async function openPage(browser, address, { trusted = true, scale = 1 } = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: scale });
  page.setDefaultTimeout(limit);
  page.setDefaultNavigationTimeout(limit);
  if (!trusted) {
    await page.addInitScript(asksForTrust);
  }
  await page.goto(address);
  return page;
}

/** Runs in the page: turns on workspace trust in the configuration, before the workbench reads it. */
function asksForTrust() {
  new MutationObserver(() => {
    const meta = document.querySelector("meta#vscode-workbench-web-configuration");
    const settings = meta?.getAttribute("data-settings");
    meta?.setAttribute(
      "data-settings",
      settings?.replace('"enableWorkspaceTrust":false', '"enableWorkspaceTrust":true') ?? "",
    );
  }).observe(document, { childList: true, subtree: true });
}

/** The settings of every test editor: quiet, and without network features. */
export const quietSettings = {
  "workbench.startupEditor": "none",
  "fulcrum.showFirstResult": false,
  "workbench.colorTheme": "Default Dark Modern",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "extensions.ignoreRecommendations": true,
  "update.mode": "none",
  "git.enabled": false,
  "editor.minimap.enabled": false,
  "security.workspace.trust.startupPrompt": "never",
  // One row for each folder in the explorer, so that tests can click it by name; one serial.cpp, so that they can open it by name.
  "explorer.compactFolders": false,
  "search.exclude": { fixed: true },
};
