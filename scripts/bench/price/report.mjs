/** The section of docs/accuracy.md on what critical sections are worth. */
export function report(loads, journal) {
  const { machine, revision } = journal.get("machine");
  const rows = Object.keys(loads)
    .filter((name) => journal.get(name) !== undefined)
    .map((name) => row(name, journal.get(name)));
  return `## What a section is worth

${machine}; ${revision}; ${journal.dates()}. A small server (\`test/fixtures/till.c\`) whose checkouts wait at a lock for reports: what
\`fulcrum transactions price\` says after a minute, beside what halving the section really brings to the time that a checkout
takes, as those who ask see it. *Actual* is the median over interleaved rounds, with the half width of its 95 % interval. Whoever
asks runs beside the server, is not profiled, and so does not pause when the server's threads do.

| asking | a checkout takes | with half the section | predicted | actual |
| --- | --: | --: | --: | --: |
${rows.join("\n")}`;
}

function row(name, { predicted, actual, before, after }) {
  const { gain, gainLow, gainHigh } = predicted;
  const percent = (part) => (100 * part).toFixed(1).replace("-", "−");
  const told = gain === null ? "not known" : `${percent(gain)} % (${percent(gainLow)}…${percent(gainHigh)})`;
  const took = (ms) => `${ms.toFixed(2)} ms`;
  return `| ${name} | ${took(before)} | ${took(after)} | ${told} | ${percent(actual.value)} % ± ${percent(actual.spread)} |`;
}
