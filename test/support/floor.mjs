/** A floor of tests in an editor: each test with its time, each group up to its first failure, a picture of what failed. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { writeResults } from "./results.mjs";
import { root } from "./root.mjs";

/** How long one test may take, in milliseconds: for what never ends. */
const limit = 300_000;

const pictures = path.join(root, "out", "test-results", "pictures");

export class Floor {
  /** @type {import("./results.mjs").TestTime[]} */
  #tests = [];
  /** @type {{ name: string, message: string }[]} */
  #failures = [];

  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /**
   * Runs tests in a page of their own, up to the first that fails.
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
      // Leaving the page ends its extension host and with it its engine.
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

/** What the page shows, as a file; says where. */
export async function photograph(page, name) {
  const file = path.join(pictures, `${name}.png`);
  try {
    mkdirSync(pictures, { recursive: true });
    // What fades in or moves is shown as it will be.
    await page.screenshot({ path: file, animations: "disabled", timeout: 30_000 });
    return `It looked like ${path.relative(root, file)}.`;
  } catch (error) {
    return `There is no picture: ${error}`;
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
      late.addEventListener("abort", () => reject(new Error(`It was not done after ${milliseconds / 1000} seconds.`)));
    }),
  ]);
}
