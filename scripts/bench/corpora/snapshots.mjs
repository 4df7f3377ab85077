/** What speedscope's own tests expect of its samples: a function's weight alone and with everything it calls. */

/**
 * Which sample each of its tests opens.
 * @param {string} source a `*.test.ts`
 * @returns {Map<string, string>} the test's title by the sample's path
 */
export function samplesOf(source) {
  const found = new Map();
  const test = /test\(\s*(['"`])(?<title>.*?)\1[\s\S]*?checkProfileSnapshot\(\s*(['"`])(?<file>.*?)\3/g;
  for (const { groups } of source.matchAll(test)) {
    found.set(groups.file.replace(/^\.\//, ""), groups.title);
  }
  return found;
}

/**
 * The functions of all profiles that a test's snapshots hold.
 * @param {string} snapshots a `*.snap`
 * @param {string} title
 * @returns {import("./functions.mjs").Cost[]}
 */
export function functionsOf(snapshots, title) {
  const functions = [];
  for (let number = 1; ; number += 1) {
    // Before the title may stand that of a group of tests.
    const head = new RegExp(`^exports\\[\`(?:[^\`]* )?${literal(title)} ${number}\`\\] = \``, "m");
    const from = snapshots.search(head);
    if (from < 0) {
      return functions;
    }
    const text = snapshots.slice(from, snapshots.indexOf("\n`;", from));
    const frame = /Frame \{\n(?<body>[\s\S]*?)\n {4}\},/g;
    for (const { groups } of text.matchAll(frame)) {
      const name = /^ {6}"name": "(.*)",$/m.exec(groups.body)?.[1];
      const weight = (key) => Number(new RegExp(`^ {6}"${key}": (.*),$`, "m").exec(groups.body)?.[1]);
      functions.push({ name: unquoted(name), self: weight("selfWeight"), total: weight("totalWeight") });
    }
  }
}

function literal(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Jest's notation: quotes and backslashes of a text, inside of a template. */
function unquoted(text) {
  return text.replaceAll(/\\\\/g, "\\").replaceAll(/\\(["\\`$])/g, "$1");
}
