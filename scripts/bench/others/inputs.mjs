/** The inputs of the borrowed programs: generated once, and the same on every machine. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../lib/steps.mjs";
import { generator } from "../lib/statistics.mjs";

const folder = path.join(root, "out", "bench", "others", "inputs");

/** @param {string} name @param {() => string | Buffer} make @returns {string} the file */
function made(name, make) {
  const file = path.join(folder, name);
  if (!existsSync(file)) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, make());
  }
  return file;
}

/** A few megabytes that compress like source code: this repository's own. */
export function text() {
  return made("text", () => {
    const crates = path.join(root, "engine", "crates");
    const all = readdirSync(crates, { recursive: true, encoding: "utf8" }).filter((it) => it.endsWith(".rs"));
    return all
      .sort()
      .map((it) => readFileSync(path.join(crates, it), "utf8"))
      .join("");
  });
}

/** Words of 3 to 14 letters, one per line. */
export function words() {
  return made("words", () => {
    const random = generator(3);
    const letter = () => String.fromCharCode(97 + Math.floor(26 * random()));
    const word = () => Array.from({ length: 3 + Math.floor(12 * random()) }, letter).join("");
    return `${Array.from({ length: 200_000 }, word).join("\n")}\n`;
  });
}

/** A Windows bitmap with 24 bits per pixel. */
export function bitmap() {
  return made("picture.bmp", () => {
    const [head, pixels] = [54, 2_000_000];
    const bytes = Buffer.alloc(head + 3 * pixels);
    bytes.write("BM");
    bytes.writeUInt16LE(head, 10);
    bytes.writeUInt16LE(24, 28);
    const random = generator(4);
    for (let at = head; at < bytes.length; at += 1) {
      bytes[at] = Math.floor(256 * random());
    }
    return bytes;
  });
}

/** Pages of about 8 kB, with links among a thousand addresses. */
export function pages() {
  const random = generator(5);
  const link = () => `<a href="http://www.example.org/a/longer/path/page${Math.floor(1000 * random())}.html">there</a>`;
  const page = () => `<html>\n${Array.from({ length: 80 }, () => `${"some text ".repeat(3)}${link()}`).join("\n")}\n`;
  for (let number = 0; number < 200; number += 1) {
    made(path.join("pages", `${number}.html`), page);
  }
  return path.join(folder, "pages");
}

/** Searches lines for a pattern, endlessly. Each round ends with a call of `os.clock`. */
export function luaScript() {
  return made(
    "search.lua",
    () => `local lines = {}
for line in io.lines(arg[1]) do
  if #line > 60 then lines[#lines + 1] = line end
  if #lines == 50 then break end
end
while true do
  local found = 0
  for _, line in ipairs(lines) do
    if string.find(line, "(%w+)%s*=%s*(%w+)") then found = found + 1 end
    found = found + #string.rep(line, 20)
  end
  os.clock()
end
`,
  );
}

/** Rows of text, and the same query, repeated. */
export function queries() {
  const rows = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)";
  const fill = `create table lines(number, text);\n${rows} insert into lines select i, hex(i * i) from n;\n`;
  const query = "select sum(length(text) * (number % 7)) from lines where text like '%1_3%';\n";
  return made("queries.sql", () => fill + query.repeat(100_000));
}
