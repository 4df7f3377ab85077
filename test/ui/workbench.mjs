/** Hands and eyes for a real workbench: what a person does and sees, in Playwright's words. */

import { limit } from "../support/browser.mjs";

/** After how many milliseconds a person would try again. */
export const patience = 10_000;
/** The same where trying once more does no harm. */
export const soon = 1000;

/** @param {import("playwright-core").Page} page */
export function workbench(page) {
  const editor = page.locator(".editor-instance .monaco-editor").first();
  const explorerRow = (name) => page.locator(`.explorer-folders-view .monaco-list-row[aria-label^="${name}"]`).first();

  /**
   * Opens a quick input by a key, types, and takes the row. Something that takes the focus meanwhile (a view that opens,
   * a notification) closes it, or it opens while the workbench is still busy: a person would open it again.
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

  /** Does it, and does it again after Escape when what it should lead to does not come. */
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

    /** Reloads the window, and waits until the new one is there. */
    async reload() {
      await page.evaluate(() => {
        window.isBeforeReload = true;
      });
      await this.command("Developer: Reload Window");
      const isNew = () =>
        window.isBeforeReload === undefined && document.querySelector(".monaco-workbench .statusbar") !== null;
      // While it goes there is no page to ask.
      await until(page, "the window to come back", () => page.evaluate(isNew).catch(() => false));
    },

    /** Runs a command by its title from the palette. */
    async command(title) {
      const row = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title }).first();
      await pick("F1", `>${title}`, row);
    },

    /**
     * Answers a question by its title, with a text or with what is there: until it is gone. Between two questions keys can
     * go nowhere.
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

    /** Puts the cursor on a 1-based line and column. */
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
        // A menu also goes when something else takes the focus: then it is opened again.
        if (!(await entry.isVisible())) {
          await again(
            `the menu with ${item}`,
            () => row.click({ button: "right" }),
            () => appears(entry, patience),
          );
        }
        // A menu takes no clicks in its first moments, which on a busy machine come late.
        return (await isClicked(entry)) && goes(entry, soon);
      });
    },

    /** The images in the gutter, by 1-based line number: found by their height on the screen. */
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

    /** The text of a 1-based line as the screen shows it, with what stands at its end. */
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

    /** Points at a word of a line until the hover has what is wanted. */
    async hover(text, wanted) {
      const row = editor.locator(".view-line", { hasText: text }).first();
      const word = row.locator("span > span", { hasText: text.split(" ")[0] }).first();
      await until(page, `a hover of ${text}`, async () => {
        // The pointer has to move for a hover to begin.
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

/** The page of a webview: the frame that has this element. Several webviews can be open. */
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

/** Whether an element is seen within so many milliseconds. For what is tried again when it is not. */
export function appears(locator, timeout) {
  return reaches(locator, "visible", timeout);
}

/** Clicks an element that may go at any moment. Whether the click came to it. */
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
    // It was gone before.
    return false;
  }
}

/** Whether an element goes within so many milliseconds. */
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
 * Waits until the page of a webview shows all that it was told to show, and was asked for: its `data-settled` stays for a
 * frame. Gives that, which is another one each time.
 *
 * @param {import("playwright-core").Frame} frame
 * @param {string} [earlier] what it gave before something was done that changes what is shown
 */
export function settled(frame, earlier) {
  return frame.locator("body").evaluate(wholePage, earlier);
}

/** In the page: see {@link settled}. */
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

/** Does something that a webview draws, and waits until it has. */
export async function drawnAfter(frame, act) {
  const before = await settled(frame);
  await act();
  await settled(frame, before);
}

/**
 * Goes down a list of rows by keys until the wanted name is active. A list that is still changing is walked again. Gives the
 * row's name.
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
        // The last row: from the top again.
        return undefined;
      }
      now = next;
    }
  });
}

/**
 * Waits until the probe gives something true, and gives it back: asks again when the page has drawn. The limit is for what
 * never comes: it says nothing about how fast a machine is, and may be as long as anybody would wait. What it was waiting
 * for is text, or tells it when it ends.
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

/** A few frames of the page. While a window is reloaded there is no page to ask: then those of the new one. */
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
