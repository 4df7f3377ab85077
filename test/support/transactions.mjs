/** A real recording of transactions: `test/fixtures/shop.c` is the server, and this is the client. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { root } from "./root.mjs";
import { engineBinary } from "./stage.mjs";

/** How often each kind of request is sent. */
export const asked = { buy: 12, list: 12, report: 3, checkout: 3 };

const answerLength = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".length;

/**
 * Records the shop into the workspace's store while it gets all requests.
 * @param {string} workspace
 */
export async function recordShop(workspace) {
  const shop = path.join(workspace, "shop");
  // The editor shows the source that was compiled.
  copyFileSync(path.join(root, "test/fixtures/shop.c"), path.join(workspace, "shop.c"));
  const command = ["-O1", "-g", "-pthread", "shop.c", "-o", shop];
  const compiled = spawnSync("gcc", command, { cwd: workspace, encoding: "utf8" });
  if (compiled.status !== 0) {
    throw new Error(`gcc failed on shop.c: ${compiled.stderr || compiled.error}`);
  }
  const args = [
    "transactions",
    "run",
    "--quiet",
    "--no-pauses",
    "--workspace",
    workspace,
    "--cwd",
    workspace,
    "--",
    shop,
  ];
  const recorder = spawn(engineBinary(), args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  recorder.stderr.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const ended = once(recorder, "exit");
  const lines = createInterface(recorder.stdout)[Symbol.asyncIterator]();
  const port = Number((await lines.next()).value);
  if (!(port > 0)) {
    throw new Error(`The shop was not recorded: ${said}`);
  }
  await askAll(port);
  // Read the rest of the output, so that the recorder never blocks on a full pipe.
  while (!(await lines.next()).done) {}
  const [status] = await ended;
  if (status !== 0) {
    throw new Error(`Recording the shop ended with ${status}: ${said}`);
  }
}

/**
 * Sends all requests to a shop. Then the shop ends.
 * @param {number} port
 * @param {() => Promise<void>} [answered] called after all answers, while the shop still runs
 */
export async function askAll(port, answered = async () => {}) {
  const clients = await Promise.all([connected(port), connected(port), connected(port), connected(port)]);
  const [buys, lists, checksOut, reports] = clients;
  for (let n = 0; n < asked.buy; n += 1) {
    await ask(buys, "buy");
    await ask(lists, "list");
  }
  for (let n = 0; n < asked.report; n += 1) {
    await Promise.all([ask(reports, "report"), ask(checksOut, "checkout")]);
  }
  await answered();
  for (const client of clients) {
    client.end();
  }
}

/** @param {number} port */
async function connected(port) {
  const client = net.connect(port, "127.0.0.1");
  client.setNoDelay(true);
  await once(client, "connect");
  return client;
}

/**
 * @param {net.Socket} client
 * @param {string} what
 */
async function ask(client, what) {
  client.write(`GET /${what}?id=7 HTTP/1.1\r\nHost: shop\r\n\r\n`);
  for (let length = 0; length < answerLength; ) {
    const [bytes] = await once(client, "data");
    length += bytes.length;
  }
}
