/**
 * What a long step is doing: on a terminal one line that is drawn over, elsewhere a line every eight seconds.
 * Nobody who waits looks at nothing for longer than that.
 */

const drawMs = 500;
const lineMs = 8000;

/**
 * Shows a step until `end` is called.
 * @param {string} name
 * @param {NodeJS.WriteStream} [out]
 * @returns {{ say: (what: string) => void, end: () => void }} `say` replaces what is told beside the name and the time
 */
export function showStatus(name, out = process.stdout) {
  const start = Date.now();
  let what = "";
  const line = () => `${name.padEnd(34)} ${Math.floor((Date.now() - start) / 1000)} s${what === "" ? "" : `  ${what}`}`;
  const draw = out.isTTY
    ? () => out.write(`\r\x1b[K${line().slice(0, (out.columns ?? 80) - 1)}`)
    : () => out.write(`${line()} …\n`);
  const timer = setInterval(draw, out.isTTY ? drawMs : lineMs);
  return {
    say: (text) => {
      what = text;
    },
    end: () => {
      clearInterval(timer);
      if (out.isTTY) {
        out.write("\r\x1b[K");
      }
    },
  };
}
