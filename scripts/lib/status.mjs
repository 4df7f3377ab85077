/**
 * What long steps are doing: on a terminal one line for all of them that is drawn over, elsewhere a line every eight
 * seconds for each. Nobody who waits looks at nothing for longer than that.
 */

const drawMs = 500;
const lineMs = 8000;

/** What each step that goes on would show, the one that began first before the others. @type {Set<() => string>} */
const shown = new Set();

/**
 * Shows a step until `end` is called.
 * @param {string} name
 * @param {NodeJS.WriteStream} [out]
 * @returns {{ say: (what: string) => void, end: () => void }} `say` replaces what is told beside the name and the time
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
