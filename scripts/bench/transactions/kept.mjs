/**
 * The rows and flows in a document's section on transactions that are not of these servers.
 * @param {string} document
 * @param {string[]} names
 */
export function keptLines(document, names) {
  const [, section = ""] = /<!-- bench transactions -->([\s\S]*?)<!-- end transactions -->/.exec(document) ?? [];
  const [table = "", flows = ""] = section.split("What flowed through shared memory");
  const isOfOthers = (line) => !names.some((name) => line.startsWith(`| ${name} |`) || line.startsWith(`- ${name}: `));
  return {
    rows: [...table.matchAll(/^\| .*$/gm)]
      .map(([line]) => line)
      .slice(2)
      .filter(isOfOthers),
    flows: [...flows.matchAll(/^- .*$/gm)].map(([line]) => line).filter(isOfOthers),
  };
}
