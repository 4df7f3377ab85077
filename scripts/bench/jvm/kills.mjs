/** Programs killed at random moments. Every tool must read what was written. */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { runChild } from "../lib/children.mjs";
import { generator } from "../lib/statistics.mjs";
import { libraries, observing } from "./libraries.mjs";
import { compile, fulcrum } from "./tools.mjs";

/** The commands that read logs. */
const readers = [
  ["stats", "--json"],
  ["tree", "--depth", "3", "--limit", "1000"],
  ["list", "--json", "--limit", "100000"],
];

const expected = "The log has no end: its program is running, or was killed.";

export async function killPrograms({ jdks, jars, quick }) {
  const [h2] = libraries;
  const classes = await compile(jdks[0], "kills", [`${h2.main}.java`], jars);
  const classpath = [classes, ...jars.filter((file) => path.basename(file).startsWith("h2-"))].join(":");
  const random = generator(5);
  const kills = [];
  for (let n = 0; n < (quick ? 2 : 20); n++) {
    const jdk = jdks[n % jdks.length];
    const { folder, options } = observing(h2.classes, "killed");
    const command = ["trace", "--quiet", ...options, "--", jdk.java, "-cp", classpath, h2.main, "forever"];
    const child = spawn(fulcrum, command, { stdio: ["ignore", "pipe", "ignore"] });
    const ended = new Promise((resolve) => child.on("close", resolve));
    // It prints its process id when it starts.
    const pid = await new Promise((resolve) => child.stdout.once("data", (text) => resolve(Number.parseInt(text, 10))));
    const milliseconds = Math.round(random() * 4000);
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    process.kill(pid, "SIGKILL");
    await ended;
    kills.push({ milliseconds, jdk: jdk.name, ...(await readAll(folder)) });
    rmSync(folder, { recursive: true, force: true });
  }
  return kills;
}

/** The number of events read, and all readers' complaints. */
async function readAll(folder) {
  const complaints = [];
  let events = 0;
  for (const [tool, ...options] of readers) {
    const { code, stdout, stderr } = await runChild([fulcrum, "events", tool, folder, ...options], { limit: 120 });
    const said = stderr.trim().replace(`note: ${expected}`, "");
    if (code !== 0 || said !== "") {
      complaints.push(`${tool}: ${code} ${said}`);
    } else if (tool === "stats") {
      const stats = JSON.parse(stdout);
      events = stats.threads.reduce((sum, thread) => sum + thread.events, 0);
      complaints.push(...stats.notes.filter((note) => note !== expected));
      if (stats.unbalanced > 0) {
        complaints.push(`${stats.unbalanced} calls ended that had not started`);
      }
    }
  }
  return { events, complaints };
}
