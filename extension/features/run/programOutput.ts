/** The end of a recorded program's output, which the run's folder keeps. */
import { open } from "node:fs/promises";
import * as path from "node:path";

/** The most bytes that are read: a program may have written gigabytes. */
const most = 16 << 10;

export interface WrittenOutput {
  /** Absolute. */
  file: string;
  /** The last lines that are not empty, the newest last. */
  lines: string[];
}

/** Its standard error when there is any, else its standard output; `undefined` when it wrote nothing. */
export async function lastWritten(run: string): Promise<WrittenOutput | undefined> {
  for (const name of ["stderr.txt", "stdout.txt"]) {
    const file = path.join(run, name);
    const lines = (await endOf(file)).split(/\r?\n/).filter((line) => line.trim() !== "");
    if (lines.length > 0) {
      return { file, lines };
    }
  }
  return undefined;
}

async function endOf(file: string): Promise<string> {
  try {
    const handle = await open(file);
    try {
      const { size } = await handle.stat();
      const length = Math.min(size, most);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    return "";
  }
}
