/** MariaDB and PostgreSQL, each an instance of its own in the benchmark's folder, never the system's. */
import { spawn } from "node:child_process";
import { chownSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { root, StepError } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";

const work = path.join(root, "out", "bench", "transactions");
const rows = 1000;
/** Connections that ask at a time. */
const clients = 8;

/** @returns {import("./servers.mjs").Server} */
export function mariadb(port) {
  return {
    name: "MariaDB",
    needs: ["mariadbd", "mariadb", "mariadb-install-db"],
    packages: ["mariadb-server"],
    port,
    command: mariadbd,
    prepare: fillMariadb,
    load: askMariadb,
    requests: 32_000,
  };
}

const at = (port, ...parts) => path.join(work, `mariadb-${port}`, ...parts);

function mariadbd(port) {
  return [
    "mariadbd",
    "--no-defaults",
    `--datadir=${at(port, "data")}`,
    `--socket=${at(port, "socket")}`,
    `--pid-file=${at(port, "pid")}`,
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    `--user=${userInfo().username}`,
    "--skip-name-resolve",
    "--innodb-flush-log-at-trx-commit=0",
    `--log-error=${at(port, "log")}`,
  ];
}

async function fillMariadb(port) {
  rmSync(at(port), { recursive: true, force: true });
  mkdirSync(at(port), { recursive: true });
  const user = userInfo().username;
  await done([
    "mariadb-install-db",
    "--no-defaults",
    `--datadir=${at(port, "data")}`,
    `--user=${user}`,
    "--skip-test-db",
    "--auth-root-authentication-method=normal",
  ]);
  const child = spawn("mariadbd", mariadbd(port).slice(1), { stdio: "ignore" });
  const ended = new Promise((resolve) => {
    child.on("error", resolve).on("close", resolve);
  });
  try {
    await until(() => runChild([...client(port), "--execute", "SELECT 1"]), "MariaDB");
    const tables = ["myisam", "innodb"].flatMap((engine) => [
      `CREATE TABLE shop.${engine} (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=${engine}`,
      `INSERT INTO shop.${engine} SELECT seq, 0 FROM seq_1_to_${rows}`,
    ]);
    await done([...client(port), "--execute", ["CREATE DATABASE shop", "USE shop", ...tables].join("; ")]);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

const client = (port) => ["mariadb", "--no-defaults", "--host=127.0.0.1", `--port=${port}`, "--user=root", "--batch"];

/** As many selects and updates of a table of MyISAM as of one of InnoDB, in files that eight clients work through. */
async function askMariadb(port, requests) {
  const kinds = ["SELECT myisam", "UPDATE myisam", "SELECT innodb", "UPDATE innodb"];
  const each = requests / kinds.length;
  const files = Array.from({ length: clients }, (_, client) => {
    const file = at(port, `client-${client}.sql`);
    writeFileSync(file, statements(kinds, each / clients, client));
    return file;
  });
  const start = performance.now();
  await Promise.all(
    files.map((file) =>
      done(["sh", "-c", 'file=$1; shift; exec "$@" <"$file" >/dev/null', "-", file, ...client(port), "shop"]),
    ),
  );
  const seconds = (performance.now() - start) / 1000;
  return { seconds, sent: Object.fromEntries(kinds.map((kind) => [kind, each])) };
}

function statements(kinds, each, client) {
  const lines = [];
  for (let n = 0; n < each; n += 1) {
    const id = 1 + ((n * clients + client) % rows);
    for (const kind of kinds) {
      const [verb, table] = kind.split(" ");
      lines.push(
        verb === "SELECT"
          ? `SELECT n FROM ${table} WHERE id = ${id};`
          : `UPDATE ${table} SET n = n + 1 WHERE id = ${id};`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}

/** @returns {import("./servers.mjs").Server} */
export function postgres(port) {
  return {
    name: "PostgreSQL",
    needs: ["postgres", "initdb", "pgbench", "setpriv"],
    packages: ["postgresql, with its programs in PATH"],
    port,
    command: (port) => [...asUser(), "postgres", ...postgresOptions(port)],
    prepare: fillPostgres,
    ready: (port) => until(() => runChild([...psql(port), "SELECT 1"]), "PostgreSQL"),
    load: askPostgres,
    requests: 32_000,
    sharesNothing: true,
  };
}

const data = (port) => path.join(work, `postgres-${port}`);

/** PostgreSQL does not serve as root. */
const asUser = () =>
  process.getuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];

const postgresOptions = (port) => [
  "-D",
  data(port),
  "-p",
  `${port}`,
  "-c",
  "listen_addresses=127.0.0.1",
  "-k",
  "",
  "-c",
  "fsync=off",
];

const psql = (port) => ["psql", "-h", "127.0.0.1", "-p", `${port}`, "-U", "postgres", "-q", "-c"];

async function fillPostgres(port) {
  rmSync(data(port), { recursive: true, force: true });
  mkdirSync(data(port), { recursive: true, mode: 0o700 });
  if (process.getuid?.() === 0) {
    const { stdout } = await runChild(["id", "-u", "postgres"]);
    chownSync(data(port), Number(stdout), -1);
  }
  await done([...asUser(), "initdb", "-D", data(port), "-A", "trust", "-U", "postgres", "--no-sync"]);
  const log = openSync(path.join(work, "postgres.log"), "w");
  const [program, ...args] = [...asUser(), "postgres", ...postgresOptions(port)];
  const child = spawn(program, args, { stdio: ["ignore", log, log] });
  const ended = new Promise((resolve) => {
    child.on("error", resolve).on("close", resolve);
  });
  try {
    await until(() => runChild([...psql(port), "SELECT 1"]), "PostgreSQL");
    await done([...psql(port), "CREATE TABLE items (id INT PRIMARY KEY, n INT NOT NULL)"]);
    await done([...psql(port), `INSERT INTO items SELECT id, 0 FROM generate_series(1, ${rows}) AS id`]);
  } finally {
    child.kill("SIGINT");
    await ended;
  }
}

/** Half of the requests are selects and half updates, each kind by eight connections of pgbench's. */
async function askPostgres(port, requests) {
  const kinds = {
    "SELECT items": "SELECT n FROM items WHERE id = :id;",
    "UPDATE items": "UPDATE items SET n = n + 1 WHERE id = :id;",
  };
  const each = requests / 2;
  const start = performance.now();
  for (const [kind, statement] of Object.entries(kinds)) {
    const file = path.join(work, `${kind.split(" ")[0]}.pgbench`);
    writeFileSync(file, `\\set id random(1, ${rows})\n${statement}\n`);
    const sizes = ["-c", `${clients}`, "-t", `${each / clients}`];
    const where = ["-h", "127.0.0.1", "-p", `${port}`, "-U", "postgres", "postgres"];
    await done(["pgbench", "-n", "-M", "simple", ...sizes, "-f", file, ...where]);
  }
  const seconds = (performance.now() - start) / 1000;
  return { seconds, sent: Object.fromEntries(Object.keys(kinds).map((kind) => [kind, each])) };
}

async function until(ask, name) {
  for (let tries = 0; tries < 600; tries += 1) {
    if ((await ask()).code === 0) {
      return;
    }
    await pause(100);
  }
  throw new StepError(`${name} does not answer.`);
}

async function done(command) {
  const { code, stdout, stderr } = await runChild(command, { limit: 600 });
  if (code !== 0) {
    throw new StepError(`\`${command.join(" ")}\` failed with exit code ${code}:\n${stdout}${stderr}`);
  }
  return stdout;
}
