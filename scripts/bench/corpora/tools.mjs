/** The tools that made a recording, or that its makers give for reading it, by format. */
import { addresses } from "./tools/addresses.mjs";
import { bpftrace } from "./tools/bpftrace.mjs";
import { dhat } from "./tools/dhat.mjs";
import { excimer } from "./tools/excimer.mjs";
import { goTrace } from "./tools/go_trace.mjs";
import { haskell } from "./tools/haskell.mjs";
import { heapProfile } from "./tools/heap_profile.mjs";
import { hermes } from "./tools/hermes.mjs";
import { instruments } from "./tools/instruments.mjs";
import { massif } from "./tools/massif.mjs";
import { perf } from "./tools/perf.mjs";
import { perfetto } from "./tools/perfetto.mjs";
import { memray, pyinstrument, scalene } from "./tools/python.mjs";
import { simpleperf } from "./tools/simpleperf.mjs";
import { v8 } from "./tools/v8.mjs";

/**
 * @typedef {object} Tool
 * @property {string} tool its name and version
 * @property {(read: import("./peers.mjs").Read & { text?: string, recording?: string }) => Promise<import("./peers.mjs").Compared>} compare
 *   `text` is the file's, `recording` what the file was made of
 */

/** @type {Record<string, (engine: import("./engine.mjs").Engine, from: string | undefined) => Promise<Tool | undefined>>} */
const makers = {
  bpftrace,
  "copied stacks": perf,
  DHAT: dhat,
  Excimer: excimer,
  "gperftools CPU profile": addresses,
  "Go trace": goTrace,
  Haskell: haskell,
  heapprofile: heapProfile,
  Hermes: hermes,
  Instruments: instruments,
  "legacy pprof text": addresses,
  massif,
  memray,
  Perfetto: perfetto,
  pyinstrument,
  Scalene: scalene,
  simpleperf,
  "V8 log": v8,
};

/** Tools by format, made when they are first needed. */
export class Tools {
  #engine;
  #from;
  #made = new Map();

  /**
   * @param {import("./engine.mjs").Engine} engine
   * @param {string | undefined} from where the repositories of the corpora are
   */
  constructor(engine, from) {
    this.#engine = engine;
    this.#from = from;
  }

  /**
   * The tool of a format; undefined when there is none, or none on this machine.
   * @param {string} format
   * @returns {Promise<Tool | undefined>}
   */
  async of(format) {
    if (!this.#made.has(format)) {
      this.#made.set(format, await makers[format]?.(this.#engine, this.#from));
    }
    return this.#made.get(format);
  }
}
