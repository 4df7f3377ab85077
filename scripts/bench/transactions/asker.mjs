/**
 * `node asker.mjs PROTOCOL PORT CONNECTIONS REQUESTS PATH…`: asks for the paths in turn by some connections at a time, each of
 * which has one request at a time and is made again when the server has closed it. CONNECTIONS may be `N/M`: N connections, each
 * of which rests for M milliseconds before it asks. A `*` in a path is another number each time.
 * PROTOCOL is http, redis or memcached; an HTTP answer must have status 200. Prints as JSON how many seconds it took, and how
 * many answers each path got. When the server is gone, it prints what it got until then, and ends with status 3.
 */
import { connect } from "node:net";

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
const [count = "", rest] = connections.split("/");
const { request, isWhole, isRight } = protocols[protocol];
const answers = Object.fromEntries(paths.map((path) => [path, 0]));
let next = 0;

/** Asks by one connection; gives whether the server closed it between two requests. */
function connection() {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: "127.0.0.1", noDelay: true });
    let text = "";
    /** @type {string | undefined} */
    let path;
    const ask = () => {
      if (next >= Number(requests)) {
        socket.end();
        return;
      }
      path = paths[next % paths.length] ?? "";
      next += 1;
      socket.write(request(path.replace("*", `${next}`)));
    };
    socket.setEncoding("latin1").on("data", (chunk) => {
      text += chunk;
      if (path === undefined || !isWhole(text)) {
        return;
      }
      if (!isRight(text)) {
        reject(new Error(text.slice(0, 300)));
        socket.destroy();
        return;
      }
      answers[path] += 1;
      const isLast = /^connection: *close/im.test(text.slice(0, text.indexOf("\r\n\r\n")));
      [text, path] = ["", undefined];
      if (isLast) {
        socket.end();
      } else if (rest === undefined) {
        ask();
      } else {
        setTimeout(ask, Number(rest));
      }
    });
    const closed = () => (path === undefined ? resolve(undefined) : reject(new Error(`${path} got no answer`)));
    socket.on("connect", ask).on("error", reject).on("close", closed);
  });
}

async function client() {
  while (next < Number(requests)) {
    await connection();
  }
}

const start = performance.now();
const ended = await Promise.allSettled(Array.from({ length: Number(count) }, client));
const failed = ended.find((it) => it.status === "rejected");
if (failed !== undefined) {
  console.error(failed.reason.message);
}
console.log(JSON.stringify({ seconds: (performance.now() - start) / 1000, answers }));
const all = Object.values(answers).reduce((sum, it) => sum + it, 0);
process.exitCode = failed === undefined && all === Number(requests) ? 0 : 3;
