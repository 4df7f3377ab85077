/** Ports of this machine for servers under measurement. */
import { createServer } from "node:net";

/** Linux gives outgoing connections ports from 32,768 on, and one of those may be taken again before a server starts. */
const [lowest, highest] = [10_000, 32_000];

/**
 * Ports that follow each other, on which nobody listens.
 * @param {number} count
 * @param {() => number} [random] from 0 to below 1
 * @returns {Promise<number[]>}
 */
export async function freePorts(count, random = Math.random) {
  for (let tries = 0; tries < 100; tries += 1) {
    const first = lowest + Math.floor(random() * (highest - lowest - count));
    const ports = Array.from({ length: count }, (_, at) => first + at);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) {
      return ports;
    }
  }
  throw new Error(`There are no ${count} free ports between ${lowest} and ${highest}.`);
}

function isFree(port) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", (error) => (error.code === "EADDRINUSE" ? resolve(false) : reject(error)));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
