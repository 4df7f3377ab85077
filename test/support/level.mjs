/** A test level in an editor: the time of each test, each group up to its first failure, a picture of each failure. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { writeResults } from "./results.mjs";
import { root } from "./root.mjs";

/** The time limit of one test, in milliseconds. It only catches tests that hang. */
const limit = 300_000;

const pictures = path.join(root, "out", "test-results", "pictures");

export class Level {
  /** @type {import("./results.mjs").TestTime[]} */
  #tests = [];
  /** @type {{ name: string, message: string }[]} */
  #failures = [];

  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /**
   * Runs tests in their own page, up to the first that fails.
   * @param {string} group
   * @param {() => Promise<import("playwright-core").Page>} open
   * @param {(page: import("playwright-core").Page, test: (name: string, body: () => Promise<void>) => Promise<void>) => Promise<void>} body
   */
  async group(group, open, body) {
    let page;
    let running = `${group}: opening the workbench`;
    try {
      page = await open();
      await body(page, async (name, work) => {
        running = name;
        const begun = performance.now();
        await within(limit, work());
        this.add({ name, ms: performance.now() - begun, ok: true });
        running = `${group}: after ${name}`;
      });
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.fail(running, `${message}\n${await photograph(page, `${this.name}-${group}`)}`);
    } finally {
      // Closing the page ends its extension host, and with it the engine.
      await page?.goto("about:blank").catch(() => undefined);
      await page?.close();
    }
  }

  /** @param {import("./results.mjs").TestTime} test */
  add(test) {
    this.#tests.push(test);
    const time = `${(test.ms / 1000).toFixed(1)} s`;
    console.log(`${test.ok ? "ok    " : "FAILED"} ${time.padStart(8)}  ${this.name}: ${test.name}`);
  }

  /**
   * @param {string} name
   * @param {string} message
   */
  fail(name, message) {
    this.#failures.push({ name, message });
    this.add({ name, ms: 0, ok: false });
  }

  write() {
    const passed = this.#tests.filter(({ ok }) => ok).length;
    writeResults(this.name, passed, this.#failures, this.#tests);
  }
}

/** Saves what the page shows as a picture, and returns where. */
export async function photograph(page, name) {
  const file = path.join(pictures, `${name}.png`);
  try {
    mkdirSync(pictures, { recursive: true });
    // Animations are shown in their final state.
    await page.screenshot({ path: file, animations: "disabled", timeout: 30_000 });
    return `Screenshot: ${path.relative(root, file)}.`;
  } catch (error) {
    return `No screenshot: ${error}`;
  }
}

/**
 * @param {number} milliseconds
 * @param {Promise<void>} work
 */
async function within(milliseconds, work) {
  const late = AbortSignal.timeout(milliseconds);
  await Promise.race([
    work,
    new Promise((_, reject) => {
      late.addEventListener("abort", () =>
        reject(new Error(`The test did not end within ${milliseconds / 1000} seconds.`)),
      );
    }),
  ]);
}
