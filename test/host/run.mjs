/** The host floor in the npm-delivered VS Code: `node test/host/run.mjs`. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startEditor } from "../../scripts/editor.mjs";
import { launchBrowser, quietSettings } from "../support/browser.mjs";
import { writeResults } from "../support/results.mjs";
import { buildSample, engineBinary, makeWorkspace, stageDriver, stageExtension } from "../support/stage.mjs";

const limit = 30 * 60_000;

async function runIn({ extension, driver, trust }) {
  const workspace = makeWorkspace();
  const output = mkdtempSync(path.join(tmpdir(), "fulcrum-host-"));
  const result = path.join(output, "result.json");
  const log = [];
  if (trust) {
    buildSample(workspace.folder);
  }
  const editor = await startEditor({
    extensions: [extension, driver.folder],
    settings: trust ? quietSettings : { ...quietSettings, "security.workspace.trust.startupPrompt": "never" },
    trust,
    log: (line) => log.push(line),
    env: {
      FULCRUM_ENGINE: engineBinary(),
      FULCRUM_HOST_SUITE: driver.suite,
      FULCRUM_HOST_RESULT: result,
      FULCRUM_HOST_ONLY: process.env.FULCRUM_HOST_ONLY ?? "",
      ...(trust ? {} : { FULCRUM_HOST_UNTRUSTED: "1" }),
    },
  });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(editor.url(workspace.folder));
    const deadline = Date.now() + limit;
    while (!existsSync(result)) {
      if (Date.now() > deadline) {
        const message = `no result after ${limit / 60_000} minutes\n${log.slice(-20).join("\n")}`;
        return { passed: 0, failures: [{ name: "the suite", message }] };
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return JSON.parse(readFileSync(result, "utf8"));
  } finally {
    await browser.close();
    await editor.stop();
    workspace.remove();
    rmSync(output, { recursive: true, force: true });
  }
}

const extension = await stageExtension();
const driver = await stageDriver();
const trusted = await runIn({ extension, driver, trust: true });
const untrusted = await runIn({ extension, driver, trust: false });
console.log(`activation: ${trusted.activationMs?.toFixed(1)} ms`);
writeResults("host", trusted.passed + untrusted.passed, [...trusted.failures, ...untrusted.failures]);
