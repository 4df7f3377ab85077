/** The sample that comes with the extension: a program of one file, recorded before and after one of its loops was halved. */
import * as path from "node:path";

/** The placeholder in the recorded files for the folder that they are copied to. */
const place = "@WORKSPACE@/fixed";

export const sampleSource = "serial.cpp";

/** The runs by what they are called in the extension, with the folder of each in the copy. */
export const sampleRuns = { before: "20261121T120000Z-serial", after: "20261121T120500Z-serial" } as const;

/** Where a run is in a copy of the sample. */
export function sampleRun(folder: string, which: keyof typeof sampleRuns): string {
  return path.join(folder, ".fulcrum", "runs", sampleRuns[which]);
}

/** A recorded file, whose paths are those of a folder. Everything that holds paths is JSON. */
export function relocated(text: string, folder: string): string {
  return text.replaceAll(place, JSON.stringify(folder).slice(1, -1));
}
