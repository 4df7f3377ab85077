/** MariaDB: a separate instance in its own folder, never the system's. */
import { spawn } from "node:child_process";
import { userInfo } from "node:os";
import path from "node:path";
import { StepError } from "../../scripts/lib/steps.mjs";
import { INTERACTIONS } from "./interactions.mjs";

const socket = (folder) => path.join(folder, "mariadb.sock");
const data = (folder) => path.join(folder, "data");

/** The server's command line. Its own statistics count CPU time by user, and the waits for tables. */
export function server(folder, port) {
  return [
    "mariadbd",
    "--no-defaults",
    `--datadir=${data(folder)}`,
    `--socket=${socket(folder)}`,
    `--pid-file=${path.join(folder, "mariadbd.pid")}`,
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    `--user=${userInfo().username}`,
    "--skip-name-resolve",
    "--max-connections=2000",
    "--key-buffer-size=64M",
    "--innodb-buffer-pool-size=256M",
    "--userstat=1",
    "--performance-schema=ON",
    "--performance-schema-instrument=wait/lock/table/sql/handler=ON",
  ];
}

/** Creates the system tables. */
export async function initialise(folder) {
  const user = userInfo().username;
  await asked(["mariadb-install-db", "--no-defaults", `--datadir=${data(folder)}`, `--user=${user}`, "--skip-test-db"]);
}

/** Runs SQL as the server's root, and returns rows of fields. */
export async function ask(folder, sql) {
  const client = ["mariadb", "--no-defaults", `--socket=${socket(folder)}`, "--user=root", "--batch", "--skip-column-names"];
  const output = await asked(client, sql);
  return output.split("\n").filter(Boolean).map((line) => line.split("\t"));
}

/** Whether the server answers. */
export async function answers(folder) {
  return ask(folder, "SELECT 1").then(
    () => true,
    () => false,
  );
}

export async function shutDown(folder) {
  await ask(folder, "SHUTDOWN");
}

/**
 * MariaDB's own numbers: the CPU time of each interaction's user, how long each waited for table locks, and the same by table.
 * Times are in seconds. Table locks are those of the table handler.
 */
export async function ownAccount(folder) {
  const cpu = await ask(folder, "SELECT user, cpu_time, select_commands + update_commands FROM information_schema.user_statistics");
  const waits = await ask(
    folder,
    `SELECT user, count_star, sum_timer_wait / 1e12 FROM performance_schema.events_waits_summary_by_user_by_event_name
     WHERE event_name = 'wait/lock/table/sql/handler' AND user IS NOT NULL`,
  );
  const kinds = ["read_normal", "read_with_shared_locks", "read_high_priority", "read_no_insert"];
  const writes = ["write_allow_write", "write_concurrent_insert", "write_low_priority", "write_normal"];
  const sum = [...kinds, ...writes].map((it) => `sum_timer_${it}`).join(" + ");
  const tables = await ask(
    folder,
    `SELECT object_name, (${sum}) / 1e12 FROM performance_schema.table_lock_waits_summary_by_table
     WHERE object_schema = 'bookstore'`,
  );
  const of = (rows, name) => rows.find(([user]) => user === name.toLowerCase());
  const interactions = Object.keys(INTERACTIONS).map((name) => ({
    name,
    cpuSeconds: Number(of(cpu, name)?.[1] ?? 0),
    commands: Number(of(cpu, name)?.[2] ?? 0),
    tableWaitSeconds: Number(of(waits, name)?.[2] ?? 0),
  }));
  return { interactions, tables: tables.map(([name, seconds]) => ({ name, waitSeconds: Number(seconds) })) };
}

/** Runs a program with this input and returns its output. */
function asked([program, ...args], input = "") {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
    const text = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (chunk) => {
        text[name] += chunk;
      });
    }
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(text.stdout) : reject(new StepError(`${program} failed:\n${text.stderr || text.stdout}`)),
    );
    child.stdin.on("error", () => {}); // The program has ended. Its exit code gives the reason.
    child.stdin.end(input);
  });
}
