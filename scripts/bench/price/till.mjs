/** Asking `test/fixtures/till.c`, whose checkouts wait for reports. */
import { once } from "node:events";
import net from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";

const answerLength = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".length;

/** Looks until there is something to see. */
export async function until(look) {
  for (;;) {
    const seen = look();
    if (seen) {
      return seen;
    }
    await pause(20);
  }
}

async function connected(port) {
  const client = net.connect(port, "127.0.0.1");
  client.setNoDelay(true);
  await once(client, "connect");
  return client;
}

async function answered(client) {
  for (let length = 0; length < answerLength; ) {
    const [chunk] = await once(client, "data");
    length += chunk.length;
  }
}

/**
 * Asks for so many seconds, each client one request after the other. What each request took, in milliseconds, by its kind.
 * @param {number} port
 * @param {Record<string, number[]>} load by kind, how long each client thinks, in milliseconds
 * @param {number} seconds
 */
export async function ask(port, load, seconds) {
  const end = performance.now() + seconds * 1000;
  const took = Object.fromEntries(Object.keys(load).map((what) => [what, []]));
  const clients = Object.entries(load).flatMap(([what, thinking]) =>
    thinking.map(async (think) => {
      const client = await connected(port);
      while (performance.now() < end) {
        const begun = performance.now();
        client.write(`GET /${what}?id=7 HTTP/1.1\r\nHost: till\r\n\r\n`);
        await answered(client);
        took[what].push(performance.now() - begun);
        if (think > 0) {
          await pause(think);
        }
      }
      client.destroy();
    }),
  );
  await Promise.all(clients);
  return took;
}

/** Closes the till. */
export async function quit(port) {
  const client = await connected(port);
  client.end("GET /quit HTTP/1.1\r\n\r\n");
  client.on("error", () => {}).resume();
  await once(client, "close");
}
