/** Helpers that use a real workbench as a person would, written with Playwright. */

import { limit } from "../support/browser.mjs";

/** After how many milliseconds to try again. */
export const patience = 10_000;
/** The same where another try does no harm. */
export const soon = 1000;

/** @param {import("playwright-core").Page} page */
export function workbench(page) {
  const editor = page.locator(".editor-instance .monaco-editor").first();
  const explorerRow = (name) => page.locator(`.explorer-folders-view .monaco-list-row[aria-label^="${name}"]`).first();

  /**
   * Opens a quick input by a key, types, and accepts the row. If something else takes the focus (a view that opens, a
   * notification), the input closes, and a busy workbench may not open it at all: then this opens it again.
   */
  async function pick(key, text, row) {
    const input = page.locator(".quick-input-widget input:visible").first();
    await again(
      `${text} in the quick input`,
      () => page.keyboard.press(key),
      async () => {
        if (!(await appears(input, patience))) {
          return false;
        }
        await input.fill(text, { timeout: patience }).catch(() => undefined);
        return appears(row, patience);
      },
    );
    await page.keyboard.press("Enter");
  }

  /** Calls `act`. If the expected result does not appear, presses Escape and tries again. */
  function again(what, act, came) {
    return until(page, what, async () => {
      await act();
      if (await came()) {
        return true;
      }
      await page.keyboard.press("Escape");
      return false;
    });
  }

  return {
    async ready() {
      await page.locator(".monaco-workbench .statusbar").first().waitFor();
    },

    again,

    /** Reloads the window, and waits for the new one. */
    async reload() {
      await page.evaluate(() => {
        window.isBeforeReload = true;
      });
      await this.command("Developer: Reload Window");
      const isNew = () =>
        window.isBeforeReload === undefined && document.querySelector(".monaco-workbench .statusbar") !== null;
      // During the reload there is no page to ask.
      await until(page, "the window to come back", () => page.evaluate(isNew).catch(() => false));
    },

    /** Runs a command by its title from the palette. */
    async command(title) {
      const row = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title }).first();
      await pick("F1", `>${title}`, row);
    },

    /** Waits for the question with this title, until keys go to it. */
    asked: (title) => asked(page, title),

    /**
     * Answers the question with this title, with a text or by accepting the default, until it closes. Keys between two questions
     * may get lost.
     */
    async answer(title, text) {
      const heading = page.locator(".quick-input-title", { hasText: title });
      const input = page.locator(".quick-input-box input").first();
      await heading.waitFor();
      await until(page, `an answer to ${title}`, async () => {
        if (!(await heading.isVisible())) {
          return true;
        }
        if (text !== undefined) {
          await input.fill(text, { timeout: patience }).catch(() => undefined);
        }
        await input.press("Enter", { timeout: patience }).catch(() => undefined);
        return goes(heading, patience);
      });
    },

    async openFile(name) {
      const row = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: name }).first();
      await pick("Control+P", name, row);
      await page.locator(".tab.active", { hasText: name }).waitFor();
      await editor.locator(".view-line").first().waitFor();
    },

    /** Moves the cursor to a 1-based line and column. */
    async goToLine(line, column = 1) {
      const row = page.locator(".quick-input-list .monaco-list-row.focused").first();
      await pick("Control+G", `:${line}:${column}`, row);
      await page.locator(".statusbar-item", { hasText: `Ln ${line},` }).waitFor();
    },

    /** The explorer's row of a file or folder, by the beginning of its name. */
    explorerRow,

    /** Makes a file or folder visible in the explorer by unfolding the folders around it. */
    async reveal(...names) {
      for (let n = 1; n < names.length; n += 1) {
        const folder = explorerRow(names[n - 1]);
        const child = explorerRow(names[n]);
        await until(page, `${names[n]} below ${names[n - 1]}`, async () => {
          if (await child.isVisible()) {
            return true;
          }
          // A second click would fold it again.
          if ((await folder.getAttribute("aria-expanded")) !== "true") {
            await folder.click();
          }
          return appears(child, patience);
        });
      }
      return explorerRow(names.at(-1));
    },

    /** Chooses from a row's context menu. */
    async contextMenu(row, item) {
      const entry = page.locator(".monaco-menu .action-item", { hasText: item }).first();
      await until(page, `${item} to be taken`, async () => {
        // A menu also closes when something else takes the focus. Then open it again.
        if (!(await entry.isVisible())) {
          await again(
            `the menu with ${item}`,
            () => row.click({ button: "right" }),
            () => appears(entry, patience),
          );
        }
        // A menu ignores clicks at first, and for longer on a busy machine.
        return (await isClicked(entry)) && goes(entry, soon);
      });
    },

    /** The images in the gutter, by 1-based line number, found by their position on the screen. */
    gutterCells() {
      return editor.evaluate((element) => {
        const middle = (node) => {
          const box = node.getBoundingClientRect();
          return box.top + box.height / 2;
        };
        const numbers = [...element.querySelectorAll(".margin-view-overlays .line-numbers")].map((node) => ({
          line: Number(node.textContent),
          y: middle(node),
        }));
        const cells = {};
        for (const node of element.querySelectorAll(".glyph-margin-widgets .cgmr")) {
          const image = getComputedStyle(node).backgroundImage;
          const number = numbers.find((candidate) => Math.abs(candidate.y - middle(node)) < 5);
          if (image.includes("data:image/svg+xml;base64,") && number !== undefined) {
            const svg = atob(image.replace(/^.*base64,/, "").replace(/["')]+$/, ""));
            const box = node.getBoundingClientRect();
            cells[number.line] = { svg, width: box.width, height: box.height };
          }
        }
        return cells;
      });
    },

    /** The text of a 1-based line as the screen shows it, with decorations at its end. */
    lineText(line) {
      return editor.evaluate((element, wanted) => {
        const number = [...element.querySelectorAll(".margin-view-overlays .line-numbers")].find(
          (node) => Number(node.textContent) === wanted,
        );
        const top = number?.getBoundingClientRect().top ?? Number.NaN;
        const row = [...element.querySelectorAll(".view-line")].find(
          (node) => Math.abs(node.getBoundingClientRect().top - top) < 3,
        );
        const parts = [...(row?.querySelectorAll("span > span") ?? [])].map((span) => {
          const after = getComputedStyle(span, "::after").content;
          const before = getComputedStyle(span, "::before").content;
          return [before, after]
            .filter((content) => content.startsWith('"'))
            .map((content) => JSON.parse(content))
            .reduce((text, extra) => text + extra, span.textContent ?? "");
        });
        return parts.join("").replaceAll("\u00a0", " ");
      }, line);
    },

    async documentText() {
      const lines = await editor.locator(".view-line").evaluateAll((rows) =>
        rows
          .map((row) => ({ top: row.getBoundingClientRect().top, text: row.textContent ?? "" }))
          .sort((a, b) => a.top - b.top)
          .map((row) => row.text.replaceAll("\u00a0", " ")),
      );
      return lines.join("\n");
    },

    /** Points at a word in a line until the hover has the wanted text. */
    async hover(text, wanted) {
      const row = editor.locator(".view-line", { hasText: text }).first();
      const word = row.locator("span > span", { hasText: text.split(" ")[0] }).first();
      await until(page, `a hover of ${text}`, async () => {
        // A hover appears only when the pointer moves.
        await page.mouse.move(640, 790);
        await word.hover();
        return appears(wanted, patience);
      });
    },

    async showRanking() {
      await this.command("Fulcrum: Show Ranking");
      await page
        .locator(".pane-header", { hasText: "Ranking" })
        .or(page.locator(".composite.title", { hasText: "Ranking" }))
        .first()
        .waitFor();
    },

    rankingRows() {
      return page
        .locator(".sidebar .monaco-list-row")
        .evaluateAll((rows) => rows.map((row) => (row.textContent ?? "").replaceAll("\u00a0", " ")));
    },

    statusText() {
      return page
        .locator("#fulcrum\\.fulcrum\\.fulcrum\\.status, [id*='fulcrum.status']")
        .evaluateAll((items) => items[0]?.textContent ?? null);
    },

    notifications() {
      return page
        .locator(".notifications-toasts .notification-list-item-message")
        .evaluateAll((items) => items.map((item) => item.textContent ?? ""));
    },
  };
}

/** A webview's page: the frame that has this element. Several webviews can be open. */
export async function frameWith(page, selector) {
  return until(page, `a webview with ${selector}`, async () => {
    for (const frame of page.frames()) {
      if (
        (await frame
          .locator(selector)
          .count()
          .catch(() => 0)) > 0
      ) {
        return frame;
      }
    }
    return undefined;
  });
}

/** Waits for the question with this title, and for its input to have the focus: on a busy machine that comes later. */
export async function asked(page, title) {
  await page.locator(".quick-input-title", { hasText: title }).waitFor();
  await page.locator(".quick-input-widget input:focus").waitFor();
}

/** Whether an element appears within so many milliseconds. For actions that are retried if it does not. */
export function appears(locator, timeout) {
  return reaches(locator, "visible", timeout);
}

/** Clicks an element that may disappear at any moment. Returns whether it got the click. */
async function isClicked(entry) {
  try {
    const watch = (node) => {
      const came = { clicked: false };
      node.addEventListener("mouseup", () => {
        came.clicked = true;
      });
      return came;
    };
    const came = await entry.evaluateHandle(watch, undefined, { timeout: soon });
    await entry.click({ timeout: patience }).catch(() => undefined);
    return await came.evaluate((it) => it.clicked);
  } catch {
    // It had already disappeared.
    return false;
  }
}

/** Whether an element disappears within so many milliseconds. */
export function goes(locator, timeout) {
  return reaches(locator, "hidden", timeout);
}

async function reaches(locator, state, timeout) {
  try {
    await locator.waitFor({ state, timeout });
    return true;
  } catch {
    return false;
  }
}

/**
 * Waits until a webview's page has drawn everything that it received and requested: until its `data-settled` stays the same for
 * a frame. Returns that value, which is different each time.
 *
 * @param {import("playwright-core").Frame} frame
 * @param {string} [earlier] the value from before an action that changes what is shown
 */
export function settled(frame, earlier) {
  return frame.locator("body").evaluate(wholePage, earlier);
}

/** Runs in the page; see {@link settled}. */
function wholePage(node, earlier) {
  const { body } = node.ownerDocument;
  return new Promise((resolve) => {
    let last;
    const look = () => {
      const now = body.dataset.settled;
      if (now !== undefined && now !== earlier && now === last) {
        resolve(now);
        return;
      }
      last = now;
      requestAnimationFrame(look);
    };
    look();
  });
}

/** Does something that makes a webview draw, and waits until it has drawn. */
export async function drawnAfter(frame, act) {
  const before = await settled(frame);
  await act();
  await settled(frame, before);
}

/**
 * Moves down a list of rows by keys until a row with the wanted name is active. Starts again if it reaches the end, because the
 * list may still be changing. Returns the row's name.
 */
export function walk({ list, name, wanted, key = "Home", step = "ArrowDown" }) {
  const page = list.page();
  const press = async (pressed) => {
    await page.keyboard.press(pressed);
    await list.evaluate(wholePage);
    return list.evaluate((node, selector) => {
      const row = node.ownerDocument.getElementById(node.getAttribute("aria-activedescendant") ?? "");
      return { id: row?.id ?? "", name: row?.querySelector(selector)?.textContent ?? null };
    }, name);
  };
  return until(page, `a row ${wanted}`, async () => {
    let now = await press(key);
    for (;;) {
      if (now.name !== null && wanted(now.name)) {
        return now.name;
      }
      const next = await press(step);
      if (next.id === now.id) {
        // The last row: start again at the top.
        return undefined;
      }
      now = next;
    }
  });
}

/**
 * Waits until the probe returns something truthy, and returns that. Probes again each time the page has drawn. The limit only
 * catches hangs; it is as long as anybody would wait. `what` names what it waits for, or is called for the name when the wait
 * ends.
 */
export async function until(page, what, probe, timeout = limit) {
  const late = AbortSignal.timeout(timeout);
  for (;;) {
    const last = await probe();
    if (last) {
      return last;
    }
    if (late.aborted) {
      throw new Error(`Waited ${timeout / 1000} seconds for ${typeof what === "function" ? what() : what}.`);
    }
    await frames(page);
  }
}

/** Waits for a few frames of the page. During a reload there is no page; then it waits for the new one. */
async function frames(page) {
  const few = () =>
    new Promise((resolve) => {
      let left = 4;
      const next = () => {
        left -= 1;
        if (left === 0) {
          resolve(undefined);
        } else {
          requestAnimationFrame(next);
        }
      };
      next();
    });
  try {
    await page.evaluate(few);
  } catch (error) {
    if (page.isClosed()) {
      throw error;
    }
    await page.waitForLoadState("domcontentloaded");
  }
}
