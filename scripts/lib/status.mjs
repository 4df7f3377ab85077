/**
 * What long steps are doing: on a terminal, one line for all of them, which is redrawn; elsewhere, one line per step every
 * eight seconds, so that nobody waits longer without a sign of life.
 */

const drawMs = 500;
const lineMs = 8000;

/** The status of each running step, oldest first. @type {Set<() => string>} */
const shown = new Set();

/**
 * Shows a step until `end` is called.
 * @param {string} name
 * @param {NodeJS.WriteStream} [out]
 * @returns {{ say: (what: string) => void, end: () => void }} `say` replaces the text beside the name and the time
 */
export function showStatus(name, out = process.stdout) {
  const start = Date.now();
  let what = "";
  const line = () => {
    const alone = shown.size === 1 || !out.isTTY;
    const time = `${Math.floor((Date.now() - start) / 1000)} s`;
    return `${alone ? name.padEnd(34) : name} ${time}${what === "" ? "" : `  ${what}`}`;
  };
  const drawAll = () => {
    const text = [...shown].map((each) => each()).join("  ·  ");
    out.write(`\r\x1b[K${text.slice(0, (out.columns ?? 80) - 1)}`);
  };
  shown.add(line);
  const timer = setInterval(out.isTTY ? drawAll : () => out.write(`${line()} …\n`), out.isTTY ? drawMs : lineMs);
  return {
    say: (text) => {
      what = text;
    },
    end: () => {
      clearInterval(timer);
      shown.delete(line);
      if (out.isTTY) {
        out.write("\r\x1b[K");
      }
    },
  };
}
