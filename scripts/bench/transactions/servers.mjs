/**
 * Servers that nobody here has written, as the distribution packages them, and what asks them. Each server is started alone
 * and recorded, in turn; every request that was sent must be found with its name.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { root, StepError, which } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { freePorts } from "../lib/ports.mjs";
import { mariadb, postgres } from "./databases.mjs";

export const work = path.join(root, "out", "bench", "transactions");
const pages = path.join(work, "pages");
const ports = await freePorts(8);
/** Of a second server of each kind, at the same time. */
export const secondPorts = await freePorts(8);
const files = { "small.html": "hello\n", "large.html": "x".repeat(30_000) };

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {string[]} needs programs, and what a user would install for them is in `packages`
 * @property {string[]} packages of Debian
 * @property {number} port
 * @property {(port: number) => string[]} command that stays in the foreground
 * @property {(port: number, requests: number) => Promise<Load>} load
 * @property {number} requests of one round
 * @property {(port: number) => Promise<void> | void} [prepare] writes what one at a port is configured by, or fills its database
 * @property {(port: number) => Promise<void>} [ready] waits until a server that listens also answers
 * @property {[string, string]} [queue] by which functions one thread hands each connection to another
 * @property {boolean} [handsOver] threads hand connections to each other by functions that have no names
 * @property {boolean} [sharesNothing] no thread hands anything to another one: nothing may flow through shared memory
 *
 * @typedef {{ seconds: number, sent: Record<string, number> }} Load
 */

/** @type {Server[]} */
export const servers = [
  {
    name: "nginx, 2 workers",
    needs: ["nginx", "ab"],
    packages: ["nginx-light", "apache2-utils"],
    port: ports[0],
    command: (port) => ["nginx", "-c", path.join(work, `nginx-${port}.conf`)],
    prepare: nginx,
    load: http,
    requests: 20_000,
  },
  {
    name: "Apache, event MPM",
    needs: ["apache2", "ab"],
    packages: ["apache2", "apache2-utils"],
    port: ports[1],
    command: (port) => ["apache2", "-f", path.join(work, `event-${port}.conf`), "-DFOREGROUND"],
    prepare: (port) => apache("event", port),
    load: http,
    requests: 60_000,
    queue: ["ap_queue_push_socket", "ap_queue_pop_something"],
  },
  {
    name: "Apache, worker MPM",
    needs: ["apache2", "ab"],
    packages: ["apache2", "apache2-utils"],
    port: ports[2],
    command: (port) => ["apache2", "-f", path.join(work, `worker-${port}.conf`), "-DFOREGROUND"],
    prepare: (port) => apache("worker", port),
    load: http,
    requests: 60_000,
    queue: ["ap_queue_push_socket", "ap_queue_pop_something"],
  },
  {
    name: "Redis",
    needs: ["redis-server", "redis-benchmark"],
    packages: ["redis-server", "redis-tools"],
    port: ports[3],
    command: (port) => ["redis-server", "--port", `${port}`, "--save", "", "--dir", work],
    load: redis,
    requests: 60_000,
  },
  {
    name: "memcached, -t 2",
    needs: ["memcached"],
    packages: ["memcached"],
    port: ports[4],
    command: (port) => ["memcached", "-u", "nobody", "-t", "2", "-p", `${port}`, "-l", "127.0.0.1"],
    load: memcached,
    requests: 20_000,
    handsOver: true,
  },
  mariadb(ports[5]),
  postgres(ports[6]),
  {
    name: "Squid, hits",
    needs: ["squid", "ab"],
    packages: ["squid", "apache2-utils"],
    port: ports[7],
    command: (port) => ["squid", "-N", "-f", path.join(work, `squid-${port}.conf`)],
    prepare: squid,
    load: http,
    requests: 20_000,
  },
];

/** Those of the servers whose programs are here, and a sentence about each of the others. */
export function installed() {
  const missing = servers.filter(({ needs }) => needs.some((program) => which(program) === undefined));
  return {
    found: servers.filter((server) => !missing.includes(server)),
    notes: missing.map(({ name, packages }) => `${name} was not measured: install ${packages.join(" and ")}.`),
  };
}

/**
 * Writes what servers are configured by, and fills databases. Workers give up their privileges, so the pages are for all to
 * read.
 * @param {Server[]} chosen
 */
export async function prepare(chosen) {
  mkdirSync(pages, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(pages, name), text);
  }
  for (const server of chosen) {
    await server.prepare?.(server.port);
  }
}

function nginx(port) {
  writeFileSync(
    path.join(work, `nginx-${port}.conf`),
    `daemon off; worker_processes 2; pid ${work}/nginx-${port}.pid; error_log ${work}/nginx-${port}.log;
events { worker_connections 512; }
http { access_log off; server { listen 127.0.0.1:${port}; root ${pages}; } }
`,
  );
}

function apache(mpm, port) {
  writeFileSync(
    path.join(work, `${mpm}-${port}.conf`),
    `ServerRoot /etc/apache2
ServerName localhost
PidFile ${work}/${mpm}-${port}.pid
ErrorLog ${work}/${mpm}-${port}.log
Listen 127.0.0.1:${port}
LoadModule mpm_${mpm}_module /usr/lib/apache2/modules/mod_mpm_${mpm}.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
DocumentRoot ${pages}
KeepAlive Off
StartServers 1
ServerLimit 1
ThreadsPerChild 16
MaxRequestWorkers 16
User www-data
Group www-data
<Directory />
Require all granted
</Directory>
`,
  );
}

/** A cache in front of an origin in this process, which it asks once for each page. */
async function squid(port) {
  const folder = path.join(work, `squid-${port}`);
  mkdirSync(folder, { recursive: true });
  // It gives up its privileges.
  chmodSync(folder, 0o777);
  writeFileSync(
    path.join(work, `squid-${port}.conf`),
    `http_port 127.0.0.1:${port} accel defaultsite=localhost no-vhost
cache_peer 127.0.0.1 parent ${await origin()} 0 no-query originserver
http_access allow all
cache_mem 16 MB
memory_cache_shared off
access_log none
cache_log ${folder}/log
cache_store_log none
netdb_filename none
pid_filename ${folder}/pid
coredump_dir ${folder}
pinger_enable off
shutdown_lifetime 1 second
visible_hostname localhost
`,
  );
}

/** Serves the files, which may be kept for a day, for as long as this process lives. Resolves to its port. */
function origin() {
  const server = createServer((request, response) => {
    const text = files[(request.url ?? "").slice(1)];
    response.writeHead(text === undefined ? 404 : 200, { "Cache-Control": "max-age=86400" });
    response.end(text);
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject).listen(0, "127.0.0.1", () => {
      server.unref();
      resolve(/** @type {import("node:net").AddressInfo} */ (server.address()).port);
    });
  });
}

/** Half of the requests for the small page and half for the large one, each by a connection of its own. */
async function http(port, requests) {
  const half = requests / 2;
  let seconds = 0;
  for (const page of Object.keys(files)) {
    const url = `http://127.0.0.1:${port}/${page}`;
    const { code, stdout, stderr } = await runChild(["ab", "-q", "-n", `${half}`, "-c", "8", url]);
    const took = /^Time taken for tests: +([\d.]+) seconds/m.exec(stdout)?.[1];
    if (code !== 0 || took === undefined || !/^Failed requests: +0$/m.test(stdout)) {
      throw new StepError(`ab did not get its answers from port ${port}:\n${stdout}${stderr}`);
    }
    seconds += Number(took);
  }
  return { seconds, sent: Object.fromEntries(Object.keys(files).map((page) => [`GET /${page}`, half])) };
}

async function redis(port, requests) {
  const commands = ["set", "get", "lpush"];
  const each = requests / commands.length;
  const command = ["redis-benchmark", "-p", `${port}`, "-n", `${each}`, "-c", "8", "-t", commands.join(","), "--csv"];
  const { code, stdout, stderr } = await runChild(command);
  const rates = stdout.split("\n").slice(1).filter(Boolean);
  if (code !== 0 || rates.length !== commands.length) {
    throw new StepError(`redis-benchmark failed at port ${port}:\n${stdout}${stderr}`);
  }
  const seconds = rates.reduce((sum, row) => sum + each / Number(row.split(",")[1]?.replaceAll('"', "")), 0);
  return { seconds, sent: Object.fromEntries(commands.map((name) => [`redis ${name.toUpperCase()}`, each])) };
}

/** Eight connections at once, each used for a set and a get, and closed. */
async function memcached(port, requests) {
  const script = path.join(root, "scripts", "bench", "transactions", "memcached.mjs");
  const { code, stdout, stderr } = await runChild([process.execPath, script, `${port}`, `${requests / 2}`]);
  if (code !== 0) {
    throw new StepError(`memcached did not answer at port ${port}:\n${stdout}${stderr}`);
  }
  const half = requests / 2;
  return { seconds: Number(stdout), sent: { "memcached set": half, "memcached get": half } };
}
