/** Raw results as JSON lines, one for each finished part. The newest of a key counts. Documents are written from it. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../lib/steps.mjs";

export class Journal {
  /** @param {string} name the default name of the file in out/bench */
  constructor(name, file = path.join(root, "out", "bench", `${name}.jsonl`)) {
    this.file = file;
    this.records = new Map();
    const text = existsSync(this.file) ? readFileSync(this.file, "utf8") : "";
    // The last line is incomplete if the benchmark was killed while writing it.
    for (const line of text.split("\n").slice(0, -1)) {
      const record = JSON.parse(line);
      this.records.set(record.key, record);
    }
  }

  get(key) {
    return this.records.get(key)?.value;
  }

  put(key, value) {
    const record = { key, at: new Date().toISOString(), value };
    mkdirSync(path.dirname(this.file), { recursive: true });
    appendFileSync(this.file, `${JSON.stringify(record)}\n`);
    this.records.set(key, record);
    return value;
  }

  /** Keeps only the records that count. */
  compact() {
    writeFileSync(this.file, [...this.records.values()].map((record) => `${JSON.stringify(record)}\n`).join(""));
  }

  /** The date of the newest record; empty if there is none. */
  newest() {
    return (
      [...this.records.values()]
        .map((record) => record.at)
        .sort()
        .at(-1) ?? ""
    );
  }

  /** The dates of the oldest and newest records that count: `2026-11-21`, or `from to`. */
  dates() {
    const days = [...this.records.values()].map((record) => record.at.slice(0, 10)).sort();
    return [...new Set([days[0], days.at(-1)])].join(" to ");
  }
}
