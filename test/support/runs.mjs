/** Made-up runs: the files that the store keeps, for views that only list and read them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Writes a run's manifest into a workspace and returns the run's folder.
 * @param {string} workspace
 * @param {string} name The folder's name: `20261121T131500Z-java`.
 * @param {Record<string, unknown>} over Further fields of the manifest.
 */
export function writeRun(workspace, name, over = {}) {
  const folder = path.join(workspace, ".fulcrum/runs", name);
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(name) ?? [];
  const start = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const manifest = {
    ...{ schema: 1, kind: "events", command: "java", arguments: ["-cp", "build", "shop.Main"], cwd: workspace },
    ...{ start, end: start, ended: "exited", exitCode: 0, options: {}, notes: [] },
    ...over,
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "run.json"), JSON.stringify(manifest));
  return folder;
}

/** The recorder in the manifest of an unfinished run: a process that lives as long as the test. */
export const thisRecorder = { recorder: { pid: process.pid, started: 0 }, ended: "running", end: null, exitCode: null };

/** The measurements of four iterations of a refine loop: fewer and fewer probes, and their cost. */
const measured = [
  { methods: 1412, classes: 203, fired: 4_182_204, metered: 912_411, hotspots: 61, wallNs: 4.82e9, overhead: 0.914 },
  { methods: 66, classes: 31, fired: 212_988, metered: 190_242, hotspots: 14, wallNs: 2.71e9, overhead: 0.0761 },
  { methods: 19, classes: 11, fired: 6_180, metered: 6_180, hotspots: 12, wallNs: 2.54e9, overhead: 0.0087 },
  { methods: 17, classes: 10, fired: 5_904, metered: 5_904, hotspots: 12, wallNs: 2.53e9, overhead: 0.0049 },
];

/**
 * Rows for the table of a refine loop, each measured by one of these runs (at most four).
 * @param {string[]} runs
 */
export function iterationsOf(runs) {
  return measured.slice(0, runs.length).map((row, n) => ({
    ...{ number: n + 1, run: runs[n] ?? "", filter: path.join(runs[n] ?? "", "filter"), units: 1, cpuNs: null },
    ...{ baselineWallNs: 2.52e9, baselineCpuNs: null, cpuOverhead: null, cpuOverheadLow: null, cpuOverheadHigh: null },
    ...{ overheadLow: row.overhead - 0.004, overheadHigh: row.overhead + 0.004 },
    ...{ rechecked: n === 0 ? [] : ["a.A.a()V", "b.B.b()V"], found: n === 1 ? ["a.A.a()V"] : [] },
    ...row,
  }));
}

/**
 * Writes the table of a refine loop into the folder of its latest run.
 * @param {string} run
 * @param {{ stable: boolean, hotspots: string[], iterations: ReturnType<typeof iterationsOf> }} table
 */
export function writeTable(run, table) {
  writeFileSync(path.join(run, "refine.json"), JSON.stringify({ ...table, notes: [] }));
  writeFileSync(path.join(run, "next.fulcrum-filter"), "includemethod shop.Cart total (I)J\n");
}

/**
 * Writes the runs of a refine loop that became stable, and returns their folders.
 * @param {string} workspace
 */
export function writeLoop(workspace) {
  const hotspots = ["shop.Cart.total(I)J", "shop.Orders.find(Ljava/lang/String;)Lshop/Order;"];
  /** @type {string[]} */
  const runs = [];
  for (const n of measured.keys()) {
    const number = n + 1;
    const previous = runs.at(-1);
    const run = writeRun(workspace, `20261121T1410${number}0Z-shop.Main-refine-${number}`, {
      options: {
        ...{ rule: "inherent wall >= 2ms after 20", iteration: String(number) },
        ...(previous === undefined ? {} : { previous }),
      },
    });
    runs.push(run);
    writeTable(run, { stable: number === measured.length, hotspots, iterations: iterationsOf(runs) });
  }
  return runs;
}

/**
 * The process id of the engine that records a run, or recorded a trace.
 * @param {string} run
 */
export function recorderOf(run) {
  const options = path.join(run, "agent.options");
  if (existsSync(options)) {
    return Number(/^recorder=(\d+)$/m.exec(readFileSync(options, "utf8"))?.[1]);
  }
  return JSON.parse(readFileSync(path.join(run, "run.json"), "utf8")).recorder.pid;
}
