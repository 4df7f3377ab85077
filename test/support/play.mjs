/** Scripts that the engine plays instead of running a program (`fulcrum lsp --script script`), one step per line. */
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

export class Script {
  /**
   * The next run of this program plays it. The program need not exist.
   * @param {string} program
   */
  constructor(program) {
    this.program = program;
    this.file = `${program}.script`;
    mkdirSync(path.dirname(program), { recursive: true });
    writeFileSync(this.file, "");
  }

  /**
   * Adds a run to the workspace's store, with another run's records and the current time.
   * @param {string} workspace
   * @param {string} from the other run's folder
   * @param {string} name the new folder's name: `20261122T090000Z-app`
   * @param {(folder: string) => void} [change] changes the records
   */
  run(workspace, from, name, change = () => undefined) {
    const folder = path.join(`${this.file}ed`, name);
    cpSync(from, folder, { recursive: true });
    const file = path.join(folder, "run.json");
    const start = `${new Date().toISOString().slice(0, 19)}Z`;
    const manifest = { ...JSON.parse(readFileSync(file, "utf8")), command: this.program, start };
    writeFileSync(file, JSON.stringify(manifest));
    change(folder);
    this.add({ do: "run", from: folder, name });
    return path.join(workspace, ".fulcrum/runs", name);
  }

  /** @param {Record<string, unknown>[]} steps */
  add(...steps) {
    appendFileSync(this.file, steps.map((step) => `${JSON.stringify(step)}\n`).join(""));
  }

  /**
   * Reports progress.
   * @param {number} experiments
   * @param {{ analysed?: boolean }} [more] `analysed`: include the results so far
   */
  report(experiments, more = {}) {
    this.add({ do: "report", experiments, lines: 2, visits: 400, elapsedSeconds: experiments / 2, ...more });
  }

  /** The program ends. */
  end() {
    this.add({ do: "end" });
  }
}
