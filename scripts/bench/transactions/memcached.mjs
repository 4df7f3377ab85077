/** `node memcached.mjs PORT N`: N connections, eight at a time, a set and a get by each. Prints how many seconds they took. */
import { connect } from "node:net";

const [port, all] = process.argv.slice(2).map(Number);

/** Sends a text and waits until the answer ends with another one. */
function ask(socket, text, end) {
  return new Promise((resolve, reject) => {
    let answer = "";
    const take = (chunk) => {
      answer += chunk;
      if (answer.endsWith(end)) {
        socket.off("data", take).off("error", reject);
        resolve(answer);
      }
    };
    socket.on("data", take).on("error", reject);
    socket.write(text);
  });
}

async function one(number) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  socket.setEncoding("latin1");
  await ask(socket, `set k${number} 0 0 5\r\nhello\r\n`, "STORED\r\n");
  await ask(socket, `get k${number}\r\n`, "END\r\n");
  await new Promise((resolve) => socket.end(resolve));
}

const start = performance.now();
let next = 0;
async function client() {
  while (next < all) {
    next += 1;
    await one(next);
  }
}
await Promise.all(Array.from({ length: 8 }, client));
console.log((performance.now() - start) / 1000);
