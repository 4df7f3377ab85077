/** Chromium for a real workbench: the machine's own, found on PATH. */
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";

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

/** Settings of every test editor: quiet, and no feature that reaches out. */
export const quietSettings = {
  "workbench.startupEditor": "none",
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
};
