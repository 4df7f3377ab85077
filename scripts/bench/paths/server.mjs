/** The language server, asked one request after the other. */
import { spawn } from "node:child_process";
import { StepError } from "../../lib/steps.mjs";

const separator = Buffer.from("\r\n\r\n");

export class Server {
  constructor(program) {
    this.child = spawn(program, ["lsp"], { stdio: ["pipe", "pipe", "ignore"] });
    this.waiting = new Map();
    this.chunks = [];
    this.received = 0;
    /** How many bytes a whole message needs, as far as is known. */
    this.wanted = 1;
    this.next = 1;
    this.child.stdout.on("data", (chunk) => this.receive(chunk));
    this.child.on("exit", () => {
      for (const { reject } of this.waiting.values()) {
        reject(new StepError("`fulcrum lsp` ended."));
      }
    });
  }

  async start() {
    await this.ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
    this.send({ jsonrpc: "2.0", method: "initialized", params: {} });
  }

  /**
   * The answer to a request, and how long it took: from its sending until the whole answer is here, before it is parsed.
   * @param {string} method
   * @param {object} params
   * @returns {Promise<{ answer: object, ms: number, bytes: number }>}
   */
  ask(method, params) {
    const id = this.next;
    this.next += 1;
    const start = process.hrtime.bigint();
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { method, start, resolve, reject });
      this.send({ jsonrpc: "2.0", id, method, params });
    });
  }

  send(message) {
    const text = JSON.stringify(message);
    this.child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  receive(chunk) {
    this.chunks.push(chunk);
    this.received += chunk.length;
    // A large answer comes in hundreds of chunks, which are joined once.
    while (this.received >= this.wanted) {
      const buffer = Buffer.concat(this.chunks);
      const end = buffer.indexOf(separator);
      const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, Math.max(end, 0)).toString())?.[1]);
      const from = end + separator.length;
      this.chunks = [buffer];
      if (end < 0 || buffer.length < from + length) {
        this.wanted = end < 0 ? buffer.length + 1 : from + length;
        return;
      }
      const now = process.hrtime.bigint();
      const message = JSON.parse(buffer.subarray(from, from + length).toString());
      this.chunks = [buffer.subarray(from + length)];
      this.received = buffer.length - from - length;
      this.wanted = 1;
      const waiting = this.waiting.get(message.id);
      // Notifications have no id, and the server's own requests a method.
      if (waiting !== undefined && message.method === undefined) {
        this.waiting.delete(message.id);
        this.answer(waiting, message, Number(now - waiting.start) / 1e6, length);
      }
    }
  }

  answer({ method, resolve, reject }, { error, result }, ms, bytes) {
    if (error === undefined) {
      resolve({ answer: result, ms, bytes });
    } else {
      reject(new StepError(`${method}: ${error.message}`));
    }
  }

  async close() {
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    await this.ask("shutdown", null);
    this.send({ jsonrpc: "2.0", method: "exit" });
    this.child.stdin.end();
    await ended;
  }
}
