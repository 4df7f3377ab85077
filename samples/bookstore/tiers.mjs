/** The three tiers as one child process: a shell that starts them and waits, alone or under `fulcrum transactions run`. */
import { spawn } from "node:child_process";
import { existsSync, openSync, closeSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { StepError } from "../../scripts/lib/steps.mjs";

const build = path.join(path.dirname(fileURLToPath(import.meta.url)), "build");

export const jar = path.join(build, "bookstore.jar");

/** Tomcat's command line. */
export function tomcat(folder, { port, cache }) {
  const classes = `${jar}:${path.join(build, "libraries", "*")}`;
  const options = ["-Xmx512m", "-XX:+UseSerialGC"];
  const kept = cache ? ["cache"] : [];
  const args = [`${port + 1}`, `${port + 2}`, path.join(folder, "tomcat"), ...kept];
  return ["java", ...options, "-cp", classes, "bookstore.Main", ...args];
}

/** haproxy's command line. One thread, as in Squid, passes pages on to Tomcat. */
export function haproxy(folder, { port }) {
  const file = path.join(folder, "haproxy.cfg");
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 4000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend shop
  bind 127.0.0.1:${port}
  default_backend tomcat
backend tomcat
  server tomcat 127.0.0.1:${port + 1}
`,
  );
  return ["haproxy", "-db", "-f", file];
}

/** Programs that run together, each with a file for its process id and one for its output. */
export class Tiers {
  #child;
  #ended;

  /**
   * @param {string} folder
   * @param {Record<string, string[]>} programs by name
   * @param {string[]} before the command that starts the shell, such as `fulcrum transactions run --`
   */
  constructor(folder, programs, before = []) {
    this.folder = folder;
    this.names = Object.keys(programs);
    const lines = Object.entries(programs).map(([name, command]) => {
      const [out, pid] = [`${name}.log`, `${name}.pid`].map((file) => quote(path.join(folder, file)));
      return `${command.map(quote).join(" ")} </dev/null >${out} 2>&1 & echo $! >${pid}`;
    });
    const script = path.join(folder, `${this.names.join("-")}.sh`);
    writeFileSync(script, `${lines.join("\n")}\nwait\n`);
    const log = openSync(path.join(folder, "recorder.log"), "w");
    const [program, ...args] = [...before, "sh", script];
    this.#child = spawn(program, args, { stdio: ["ignore", log, log], detached: true });
    closeSync(log);
    this.#ended = new Promise((resolve) => {
      this.#child.on("error", resolve).on("close", resolve);
    });
  }

  /** A program's output. */
  output(name) {
    const file = path.join(this.folder, `${name}.log`);
    return existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  }

  /** Waits until a condition of a program is true. */
  async until(name, isReady, seconds = 120) {
    const limit = Date.now() + 1000 * seconds;
    while (!(await isReady())) {
      if (this.#hasEnded() || (this.pid(name) !== undefined && !isAlive(this.pid(name)))) {
        throw new StepError(`${name} has ended:\n${this.output(name)}\n${this.output("recorder")}`.trim());
      }
      if (Date.now() > limit) {
        throw new StepError(`${name} is not ready after ${seconds} s:\n${this.output(name)}`);
      }
      await pause(50);
    }
  }

  /** The process id of a running program. */
  pid(name) {
    const file = path.join(this.folder, `${name}.pid`);
    const text = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
    return text === "" ? undefined : Number(text);
  }

  /** Ends the programs one after another, the last one first, and waits for their recorder. */
  async end() {
    for (const name of [...this.names].reverse()) {
      await this.#endOne(name);
    }
    const late = pause(60_000, "late", { ref: false });
    if ((await Promise.race([this.#ended, late])) === "late") {
      signal(-this.#child.pid, "SIGKILL");
      await this.#ended;
    }
  }

  async #endOne(name) {
    const pid = this.pid(name);
    if (pid === undefined) {
      return;
    }
    signal(pid, name === "haproxy" ? "SIGUSR1" : "SIGTERM");
    const limit = Date.now() + 30_000;
    while (isAlive(pid) && Date.now() < limit) {
      await pause(50);
    }
    signal(pid, "SIGKILL");
  }

  #hasEnded() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined;
  }
}

/** Whether something listens on a port of this machine. */
export function listens(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => resolve(false)).on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Ended children of the shell exist until it waits for them. */
function isAlive(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (error.code !== "ESRCH") {
      throw error;
    }
  }
}
