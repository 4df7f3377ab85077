/**
 * What the first bytes and the section names of an ELF file say: is it a program, and does it know its source lines?
 *
 * By hand, because a search reads a few bytes of hundreds of files, and `elfy` 1.0 needs the whole file.
 */

export interface ElfFacts {
  /** A program that loads libraries, not a library, an object file or a static program. */
  isProgram: boolean;
  /** It was compiled with `-g`. */
  hasDebugInfo: boolean;
}

/** Bytes of the file; fewer at its end. */
export type Read = (offset: number, length: number) => Promise<Uint8Array>;

const headerSize = 64;
const largest = 1 << 20;
const programInterpreter = 3;

/** `undefined` for any other file, also for ELF files of 32 bits, which cannot be profiled. */
export async function elfFacts(read: Read): Promise<ElfFacts | undefined> {
  const bytes = await read(0, headerSize);
  const isElf64 = bytes.length === headerSize && [0x7f, 0x45, 0x4c, 0x46, 2, 1].every((byte, at) => bytes[at] === byte);
  if (!isElf64) {
    return undefined;
  }
  const header = view(bytes);
  const type = header.getUint16(16, true);
  if (type !== 2 && type !== 3) {
    return { isProgram: false, hasDebugInfo: false };
  }
  const segments = await table(read, header, 32, 54);
  const isProgram = segments.some((segment) => segment.getUint32(0, true) === programInterpreter);
  return { isProgram, hasDebugInfo: isProgram && (await sectionNames(read, header)).includes(".debug_info") };
}

/** The entries of the program header table, or of the section header table. */
async function table(read: Read, header: DataView, offsetAt: number, sizeAt: number): Promise<DataView[]> {
  const offset = Number(header.getBigUint64(offsetAt, true));
  const size = header.getUint16(sizeAt, true);
  const count = header.getUint16(sizeAt + 2, true);
  // A section header is the longer one; shorter entries are damaged.
  if (size < 56 || size * count > largest) {
    return [];
  }
  const bytes = await read(offset, size * count);
  const whole = Math.floor(bytes.length / size);
  return Array.from({ length: whole }, (_, n) => view(bytes.subarray(n * size, (n + 1) * size)));
}

async function sectionNames(read: Read, header: DataView): Promise<string[]> {
  const sections = (await table(read, header, 40, 58)).filter((section) => section.byteLength >= 64);
  const names = sections[header.getUint16(62, true)];
  if (names === undefined) {
    return [];
  }
  const length = Number(names.getBigUint64(32, true));
  if (length > largest) {
    return [];
  }
  const bytes = await read(Number(names.getBigUint64(24, true)), length);
  return sections.map((section) => {
    const start = section.getUint32(0, true);
    const end = bytes.indexOf(0, start);
    // A compressed section's name may have a z, as old compilers wrote it.
    return new TextDecoder().decode(bytes.subarray(start, end < 0 ? undefined : end)).replace(/^\.z/, ".");
  });
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The name by which `fulcrum.h`, `coz.h` and the crate ask for their counters: what a program with a progress point holds. */
export const progressMark = "_coz_get_counter";
