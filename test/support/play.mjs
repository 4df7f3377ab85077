/** Scripts that the engine plays in place of running a program (`fulcrum lsp --script script`), a step a line. */
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

export class Script {
  /**
   * Played by the next run of this program, which need not exist.
   * @param {string} program
   */
  constructor(program) {
    this.program = program;
    this.file = `${program}.script`;
    mkdirSync(path.dirname(program), { recursive: true });
    writeFileSync(this.file, "");
  }

  /**
   * A run in the workspace's store, with what another one recorded. It began now.
   * @param {string} workspace
   * @param {string} from the folder of the other one
   * @param {string} name of the new one's folder: `20261122T090000Z-app`
   * @param {(folder: string) => void} [change] changes what it has recorded
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
   * What the run says of itself.
   * @param {number} experiments
   * @param {{ analysed?: boolean }} [more] analysed: with the results so far
   */
  report(experiments, more = {}) {
    this.add({ do: "report", experiments, lines: 2, visits: 400, elapsedSeconds: experiments / 2, ...more });
  }

  /** The program ends by itself. */
  end() {
    this.add({ do: "end" });
  }
}
