/** Caches in front of an origin: nginx and Squid, as the distribution packages them. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../lib/steps.mjs";
import { freePorts } from "../lib/ports.mjs";

const work = path.join(root, "out", "bench", "handlers");
const ports = await freePorts(3);
export const [originPort = 0] = ports;

/**
 * @typedef {object} Proxy
 * @property {string} name
 * @property {string[]} needs
 * @property {number} port
 * @property {(port: number) => string[]} command
 * @property {(port: number) => void} prepare writes the configuration of one at a port
 * @property {string} [answered] the handler that goes on when the origin has answered, which a miss has and a hit has not; where
 *   the distribution's program has no name for it, it is what most misses go on with
 */

/** @type {Proxy[]} */
export const proxies = [
  {
    name: "nginx",
    needs: ["nginx"],
    port: ports[1],
    command: () => ["nginx", "-c", path.join(work, "nginx.conf")],
    prepare: nginx,
  },
  {
    name: "Squid",
    needs: ["squid"],
    port: ports[2],
    command: () => ["squid", "-N", "-f", path.join(work, "squid.conf")],
    prepare: squid,
    answered: "JobDialer<HttpStateData>::dial",
  },
];

/** Workers give up their privileges, so whatever they write is in a folder for all. */
function folderForAll(name) {
  const folder = path.join(work, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o777);
  return folder;
}

function nginx(port) {
  const folder = folderForAll("nginx");
  writeFileSync(
    path.join(work, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/log;
events { worker_connections 512; }
http {
  access_log off;
  keepalive_requests 100000000;
  keepalive_timeout 1h;
  proxy_temp_path ${folder}/temp;
  proxy_cache_path ${folder}/cache keys_zone=pages:1m;
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://127.0.0.1:${originPort}; proxy_cache pages; }
  }
}
`,
  );
}

function squid(port) {
  const folder = folderForAll("squid");
  writeFileSync(
    path.join(work, "squid.conf"),
    `http_port 127.0.0.1:${port} accel defaultsite=localhost no-vhost
cache_peer 127.0.0.1 parent ${originPort} 0 no-query originserver name=origin
http_access allow all
cache_mem 64 MB
memory_cache_shared off
access_log none
cache_log ${folder}/log
cache_store_log none
netdb_filename none
pid_filename ${folder}/pid
coredump_dir ${folder}
pinger_enable off
client_idle_pconn_timeout 1 hour
shutdown_lifetime 1 second
visible_hostname localhost
`,
  );
}
