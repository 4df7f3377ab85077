/** The size of an ELF file's debug information. By hand: it is one sum, of programs that we have compiled. */
import { readFileSync } from "node:fs";

/** Bytes in `.debug_*` sections of a 64-bit little-endian ELF file. */
export function elfDebugSize(file) {
  const bytes = readFileSync(file);
  const table = Number(bytes.readBigUInt64LE(0x28));
  const [entry, count, names] = [0x3a, 0x3c, 0x3e].map((offset) => bytes.readUInt16LE(offset));
  const header = (index) => {
    const at = table + index * entry;
    return {
      name: bytes.readUInt32LE(at),
      offset: Number(bytes.readBigUInt64LE(at + 0x18)),
      size: Number(bytes.readBigUInt64LE(at + 0x20)),
    };
  };
  const strings = header(names).offset;
  let total = 0;
  for (let index = 0; index < count; index += 1) {
    const { name, size } = header(index);
    const start = strings + name;
    if (bytes.toString("latin1", start, start + 7) === ".debug_") {
      total += size;
    }
  }
  return total;
}
