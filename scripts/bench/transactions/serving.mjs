/** Servers under measurement: started alone or under something, waited for, ended; and what a recorded run shows. */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { engineBinary, StepError } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";

/** What records a server into a folder that is not there yet. Everything is recorded, without pauses. */
export const recorder = (run) => recorderWith(run, "--no-pauses");

/** The same as a user runs it, or with these options. */
export const recorderWith = (run, ...options) => [
  engineBinary,
  "transactions",
  "run",
  "--quiet",
  "--output",
  run,
  ...options,
  "--",
];

/**
 * Starts a server, does something while it runs, and ends it with all that was started for it.
 * @template T
 * @param {{ name: string, port: number, command: (port: number) => string[], ready?: (port: number) => Promise<void> }} server
 * @param {string[]} before what starts it, such as `fulcrum transactions run --`
 * @param {(child: import("node:child_process").ChildProcess) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function whileServing(server, before, work) {
  const [program, ...args] = [...before, ...server.command(server.port)];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], detached: true });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errors += text;
  });
  const ended = new Promise((resolve) => {
    child.on("close", resolve);
  });
  try {
    await listens(
      server,
      () => child.exitCode ?? child.signalCode,
      () => errors,
    );
    await server.ready?.(server.port);
    return await work(child);
  } finally {
    signalGroup(child, "SIGTERM");
    await ended;
  }
}

/** A signal to the whole group: the server itself, its workers, and whoever records them, who then write what is left. */
export function signalGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") {
      throw error;
    }
  }
}

/** Whether somebody accepts connections at a port of this machine. */
export function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket
      .on("error", () => resolve(false))
      .on("connect", () => {
        socket.destroy();
        resolve(true);
      });
  });
}

async function listens({ name, port }, ended, errors) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (ended() !== null) {
      throw new StepError(`${name} ended at once:\n${errors()}`);
    }
    if (await isListening(port)) {
      return;
    }
    await pause(50);
  }
  throw new StepError(`${name} does not listen on port ${port}:\n${errors()}`);
}

/** What a command of `fulcrum transactions` tells scripts of a run. */
export async function asked(command, ...args) {
  const line = [engineBinary, "transactions", command, ...args, "--json"];
  const { code, stdout, stderr } = await runChild(line, { limit: 600 });
  if (code !== 0) {
    throw new StepError(`\`fulcrum transactions ${command}\` failed with exit code ${code}: ${stderr.trim()}`);
  }
  return JSON.parse(stdout);
}
