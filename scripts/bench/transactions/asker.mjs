/**
 * `node asker.mjs PROTOCOL PORT CONNECTIONS REQUESTS PATH…`: asks for the paths in turn by some connections at a time, each of
 * which has one request at a time and is made again when the server has closed it. A `*` in a path is another number each time.
 * PROTOCOL is http, redis or memcached; an HTTP answer must have status 200. Prints as JSON how many seconds it took, and how many
 * answers each path got. When the server is gone, it prints what it got until then, and ends with status 3. With numbers of
 * processes in CPU_OF it rests after each answer, and also tells how much CPU time they took for each path, nanoseconds: of one
 * connection.
 */
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

const [protocol = "", port = "", connections = "", requests = "", ...paths] = process.argv.slice(2);

/** How a request is written, and whether a text is a whole answer. */
const protocols = {
  http: {
    request: (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    isWhole(text) {
      const end = text.indexOf("\r\n\r\n");
      const length = /^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1];
      return end >= 0 && text.length >= end + 4 + Number(length ?? 0);
    },
    isRight: (text) => text.startsWith("HTTP/1.1 200"),
  },
  redis: {
    request: (key) => `*2\r\n$3\r\nGET\r\n$${key.length}\r\n${key}\r\n`,
    isWhole: (text) => text.endsWith("\r\n"),
    isRight: (text) => text === "$-1\r\n",
  },
  memcached: {
    request: (key) => `get ${key}\r\n`,
    isWhole: (text) => text.endsWith("END\r\n"),
    isRight: (text) => text === "END\r\n",
  },
};
const { request, isWhole, isRight } = protocols[protocol];
const answers = Object.fromEntries(paths.map((path) => [path, 0]));
const cpu = { ...answers };
const processes = (process.env.CPU_OF ?? "").split(" ").filter(Boolean);
const tasks = processes.flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((tid) => `/proc/${pid}/task/${tid}`));
/** By thread, nanoseconds. */
const taken = new Map(tasks.map((task) => [task, 0]));

/** What these threads have taken until now, nanoseconds. */
function cpuTime() {
  for (const [task, before] of taken) {
    taken.set(task, taskTime(task) ?? before);
  }
  return [...taken.values()].reduce((sum, it) => sum + it, 0);
}

/** `undefined` when the thread has ended, as nginx's loader of its cache does after a minute. */
function taskTime(task) {
  try {
    return Number(readFileSync(`${task}/schedstat`, "utf8").split(" ")[0]);
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ESRCH") {
      return undefined;
    }
    throw error;
  }
}

let next = 0;

/** A connection to a port, made when it is needed, with one request at a time. */
class Connection {
  /** @param {number} port */
  constructor(port) {
    this.port = port;
    /** @type {import("node:net").Socket | undefined} */
    this.socket = undefined;
    this.text = "";
    this.settle = { resolve() {}, reject(_error) {} };
  }

  /** Gives the answer; fails when there is none. */
  ask(path) {
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.text = "";
      this.socket ??= this.connect();
      this.socket.write(request(path));
    });
  }

  connect() {
    const socket = connect({ port: this.port, host: "127.0.0.1", noDelay: true });
    const gone = (error) => {
      if (this.socket === socket) {
        this.socket = undefined;
        this.settle.reject(error ?? new Error("the server closed the connection"));
      }
    };
    return socket
      .setEncoding("latin1")
      .on("data", (chunk) => this.take(chunk))
      .on("error", gone)
      .on("close", gone);
  }

  take(chunk) {
    this.text += chunk;
    if (!isWhole(this.text)) {
      return;
    }
    if (/^connection: *close/im.test(this.text.slice(0, this.text.indexOf("\r\n\r\n")))) {
      this.end();
    }
    this.settle.resolve(this.text);
  }

  end() {
    this.socket?.end();
    this.socket = undefined;
  }
}

async function client() {
  const connection = new Connection(Number(port));
  let before = cpuTime();
  while (next < Number(requests)) {
    const path = paths[next % paths.length] ?? "";
    next += 1;
    const answer = await connection.ask(path.replace("*", `${next}`));
    if (!isRight(answer)) {
      throw new Error(answer.slice(0, 300));
    }
    answers[path] += 1;
    if (taken.size > 0) {
      await pause(1);
      const after = cpuTime();
      cpu[path] += after - before;
      before = after;
    }
  }
  connection.end();
}

const start = performance.now();
const ended = await Promise.allSettled(Array.from({ length: Number(connections) }, client));
const failed = ended.find((it) => it.status === "rejected");
if (failed !== undefined) {
  console.error(failed.reason.message);
}
console.log(JSON.stringify({ seconds: (performance.now() - start) / 1000, answers, cpu }));
const all = Object.values(answers).reduce((sum, it) => sum + it, 0);
process.exitCode = failed === undefined && all === Number(requests) ? 0 : 3;
