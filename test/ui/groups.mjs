/** The UI level: a real workbench in a real browser, used as a person would. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildSample } from "../support/stage.mjs";
import { compareTests } from "./compare.mjs";
import { firstTests, scratch, writeMade } from "./first.mjs";
import { flameTests, millionTests } from "./flame.mjs";
import { javaTests, writeShop } from "./java.mjs";
import { liveTests } from "./live.mjs";
import { navigatorTests } from "./navigator.mjs";
import { pagesTests, preparePages } from "./pages.mjs";
import { runsTests } from "./runs.mjs";
import { buildDispatcher, traceTests } from "./trace.mjs";
import { prepareTransactions, transactionsTests } from "./transactions.mjs";
import { emptyTests, prepareWelcome, restrictedTests, welcomeTests } from "./welcome.mjs";
import { workbench } from "./workbench.mjs";

/** The longest first, so that no long one is left at the end. */
export const uiGroups = [
  group("trace", traceTests, buildDispatcher),
  group("first", firstTests, (folder) => {
    buildSample(folder);
    writeFileSync(path.join(folder, "scratch.cpp"), scratch);
    writeMade(folder);
  }),
  group("navigator", navigatorTests),
  group("flame", flameTests),
  group("live", liveTests),
  group("runs", runsTests),
  group("transactions", transactionsTests, prepareTransactions),
  group("compare", compareTests),
  group("pages", pagesTests, preparePages),
  group("java", javaTests, writeShop),
  group("welcome", welcomeTests, prepareWelcome),
  { ...group("empty", emptyTests), empty: true },
  { ...group("restricted", restrictedTests), trusted: false },
  { ...group("million", millionTests), campaign: true },
];

function group(name, tests, prepare) {
  return {
    level: "ui",
    name,
    prepare,
    run: async ({ page, test, workspace }) => {
      const vscode = workbench(page);
      await vscode.ready();
      // Written to the workspace; the editor notices.
      const configure = (settings) => {
        mkdirSync(path.join(workspace.folder, ".vscode"), { recursive: true });
        writeFileSync(path.join(workspace.folder, ".vscode", "settings.json"), JSON.stringify(settings));
      };
      await tests({ test, vscode, page, workspace, configure });
    },
  };
}
