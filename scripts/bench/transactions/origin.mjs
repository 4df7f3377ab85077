/** `node origin.mjs PORT`: serves pages to caches. Those under /kept/ may be kept for a day, those under /fresh/ not at all. */
import { createServer } from "node:http";

const body = "x".repeat(8000);

// As long as caches keep theirs, also on a busy machine.
const keepAliveTimeout = 3_600_000;

createServer({ keepAliveTimeout }, (request, response) => {
  const mayKeep = request.url?.startsWith("/kept/");
  response.writeHead(200, {
    "Content-Type": "text/plain",
    "Content-Length": body.length,
    "Cache-Control": mayKeep ? "max-age=86400" : "no-store",
  });
  response.end(body);
}).listen(Number(process.argv[2]), "127.0.0.1");
