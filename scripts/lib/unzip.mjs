/**
 * Unpacks ZIP files, which VSIX files are. No encryption, no ZIP64: vsce writes neither.
 *
 * By hand, because Node can inflate, and only the directory remains to be read. `yauzl` 3.4 (one dependency) reads that, but would
 * leave the rest of this file: folders, permissions, and entries that leave the folder.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inflateRawSync } from "node:zlib";

const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;

/**
 * Unpacks the entries below `prefix` into a folder, without the prefix, with their permissions.
 * @param {string} file
 * @param {string} folder
 * @param {string} [prefix] such as "extension/"
 * @returns {string[]} the names of the files written
 */
export function unzip(file, folder, prefix = "") {
  const zip = readFileSync(file);
  const written = [];
  for (const entry of entries(zip, file)) {
    if (!entry.name.startsWith(prefix) || entry.name.endsWith("/")) {
      continue;
    }
    const name = entry.name.slice(prefix.length);
    const to = path.resolve(folder, name);
    if (!to.startsWith(path.resolve(folder) + path.sep)) {
      throw new Error(`${file}: the entry ${entry.name} would be unpacked outside of the folder.`);
    }
    mkdirSync(path.dirname(to), { recursive: true });
    writeFileSync(to, content(zip, entry, file));
    if ((entry.mode & 0o111) !== 0) {
      chmodSync(to, entry.mode & 0o777);
    }
    written.push(name);
  }
  return written;
}

function* entries(zip, file) {
  let end = zip.length - 22;
  while (end >= 0 && zip.readUInt32LE(end) !== endOfDirectory) {
    end -= 1;
  }
  if (end < 0) {
    throw new Error(`${file} is not a ZIP file: it has no directory at its end.`);
  }
  let at = zip.readUInt32LE(end + 16);
  for (let count = zip.readUInt16LE(end + 10); count > 0; count -= 1) {
    if (zip.readUInt32LE(at) !== directoryEntry) {
      throw new Error(`${file}: the directory is damaged at byte ${at}.`);
    }
    const nameLength = zip.readUInt16LE(at + 28);
    yield {
      method: zip.readUInt16LE(at + 10),
      size: zip.readUInt32LE(at + 20),
      mode: zip.readUInt32LE(at + 38) >>> 16,
      offset: zip.readUInt32LE(at + 42),
      name: zip.toString("utf8", at + 46, at + 46 + nameLength),
    };
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
}

function content(zip, { offset, size, method, name }, file) {
  // The local header repeats the name and the extra field, with its own lengths.
  const start = offset + 30 + zip.readUInt16LE(offset + 26) + zip.readUInt16LE(offset + 28);
  const data = zip.subarray(start, start + size);
  if (method === 0) {
    return data;
  }
  if (method !== 8) {
    throw new Error(
      `${file}: ${name} uses compression method ${method}; only stored and deflated entries can be read.`,
    );
  }
  return inflateRawSync(data);
}
