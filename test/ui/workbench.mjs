/** Hands and eyes for a real workbench: what a person does and sees, in Playwright's words. */

/** @param {import("playwright-core").Page} page */
export function workbench(page) {
  const editor = page.locator(".editor-instance .monaco-editor").first();
  return {
    async ready() {
      await page.waitForSelector(".monaco-workbench .statusbar", { timeout: 90_000 });
    },

    /** Runs a command by its title from the palette. */
    async command(title) {
      const row = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title }).first();
      // Something that takes the focus while one types (a view that opens, a notification) closes the palette: a person
      // would open it again.
      for (let left = 2; ; left -= 1) {
        await page.keyboard.press("F1");
        await page.locator(".quick-input-widget input").waitFor({ state: "visible" });
        await page.keyboard.type(title);
        try {
          await row.waitFor({ timeout: left > 0 ? 8_000 : 30_000 });
          break;
        } catch (error) {
          if (left === 0) {
            throw error;
          }
          await page.keyboard.press("Escape");
        }
      }
      await page.keyboard.press("Enter");
    },

    async openFile(name) {
      await page.keyboard.press("Control+P");
      await page.locator(".quick-input-widget input").waitFor({ state: "visible" });
      await page.keyboard.type(name);
      await page.locator(".quick-input-list .monaco-list-row.focused", { hasText: name }).first().waitFor();
      await page.keyboard.press("Enter");
      await page.locator(".tab.active", { hasText: name }).waitFor();
      await editor.locator(".view-line").first().waitFor();
    },

    /** Puts the cursor on a 1-based line and column. */
    async goToLine(line, column = 1) {
      await page.keyboard.press("Control+G");
      await page.locator(".quick-input-widget input").waitFor({ state: "visible" });
      await page.keyboard.type(`${line}:${column}`);
      await page.keyboard.press("Enter");
      await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
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

    async hover(text) {
      const row = editor.locator(".view-line", { hasText: text }).first();
      await row
        .locator("span > span", { hasText: text.split(" ")[0] })
        .first()
        .hover();
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
        .first()
        .textContent({ timeout: 1000 })
        .catch(() => null);
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
  return until(`a webview with ${selector}`, async () => {
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

/** Waits until the probe gives something true, and gives it back. */
export async function until(what, probe, timeout = 60_000) {
  const deadline = Date.now() + timeout;
  let last;
  for (;;) {
    last = await probe();
    if (last) {
      return last;
    }
    if (Date.now() > deadline) {
      throw new Error(`Waited ${timeout / 1000} seconds for ${what}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}
