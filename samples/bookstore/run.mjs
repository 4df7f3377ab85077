/**
 * The bookstore of Whodunit §8.4: haproxy → Tomcat → MariaDB with TPC-W's fourteen interactions, and browsers that use it.
 * `node samples/bookstore/run.mjs --help` lists the options. Everything runs in a temporary folder that is removed when the
 * command ends; only a recorded run is kept.
 */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { main, root, run, StepError, step, which } from "../../scripts/lib/steps.mjs";
import { browse } from "./browsers.mjs";
import { answers, ask, initialise, ownAccount, server, shutDown } from "./database.mjs";
import { parse, usage } from "./options.mjs";
import { schema } from "./schema.mjs";
import { haproxy, jar, listens, Tiers, tomcat } from "./tiers.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
/** Programs, and the Debian packages that have them. */
const needed = { haproxy: "haproxy", mariadbd: "mariadb-server", java: "default-jdk-headless", mvn: "maven" };

await main(import.meta.url, async () => {
  const options = parse(process.argv.slice(2));
  if (options.help) {
    console.log(usage);
    return;
  }
  await bookstore(options);
});

async function bookstore(options) {
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  const folder = mkdtempSync(path.join(tmpdir(), "bookstore-"));
  try {
    await prepare(folder, options, stop.signal);
    const result = await open(folder, options, stop.signal);
    console.log(`\n${table(result)}`);
    if (options.json !== undefined) {
      writeFileSync(options.json, `${JSON.stringify(result, undefined, 2)}\n`);
    }
  } catch (error) {
    if (!stop.signal.aborted) {
      throw error;
    }
    console.log("Stopped.");
    process.exitCode = 130;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

/** Builds Tomcat's part if necessary, and fills the database with a server that is not recorded. */
async function prepare(folder, options, signal) {
  const missing = Object.entries(needed).filter(([program]) => !(which(program) ?? existsSync(`/usr/sbin/${program}`)));
  if (missing.length > 0) {
    throw new StepError(`The bookstore needs: apt-get install ${missing.map(([, name]) => name).join(" ")}`);
  }
  for (const [n, name] of ["haproxy", "Tomcat", "MariaDB"].entries()) {
    if (await listens(options.port + n)) {
      throw new StepError(`Port ${options.port + n}, meant for ${name}, is taken: choose others by --port.`);
    }
  }
  if (!existsSync(jar) || statSync(jar).mtimeMs < statSync(path.join(here, "pom.xml")).mtimeMs) {
    await step("Tomcat and servlets (Maven)", () => run("mvn", ["-q", "-B", "-f", path.join(here, "pom.xml"), "package"]));
  }
  await step("database", async () => {
    await initialise(folder);
    const tiers = new Tiers(folder, { mariadbd: server(folder, options.port + 2) });
    try {
      await tiers.until("mariadbd", () => answers(folder));
      await ask(folder, schema(options));
      await shutDown(folder);
    } finally {
      await tiers.end();
    }
  });
  signal.throwIfAborted();
}

/** Starts the tiers and the browsers, and gets MariaDB's own numbers. */
async function open(folder, options, signal) {
  const programs = {
    mariadbd: server(folder, options.port + 2),
    tomcat: tomcat(folder, options),
    haproxy: haproxy(folder, options),
  };
  const tiers = new Tiers(folder, programs, options.profile ? recorder(options) : []);
  let result;
  try {
    await step("MariaDB, Tomcat, haproxy", async () => {
      await tiers.until("mariadbd", () => answers(folder));
      await tiers.until("tomcat", () => listens(options.port + 1));
      await tiers.until("haproxy", () => listens(options.port));
    });
    const { measured, seconds } = await step(`${options.browsers} browsers`, () =>
      browse({ ...options, shop: options, signal }),
    );
    const { asked } = measured;
    result = { options, seconds, pages: measured.summary(seconds), asked, database: await ownAccount(folder) };
  } finally {
    await step("end", () => tiers.end());
    if (options.profile) {
      console.log(tiers.output("recorder"));
    }
  }
  return result;
}

/** The command that records the tiers. */
function recorder({ fulcrum, output }) {
  const own = path.join(root, "bin", "fulcrum");
  const program = fulcrum ?? (existsSync(own) ? own : which("fulcrum"));
  if (program === undefined) {
    throw new StepError("There is no fulcrum in bin/ or in PATH: npm run build, or --fulcrum PROGRAM.");
  }
  const where = output === undefined ? [] : ["--output", path.resolve(output)];
  return [program, "transactions", "run", "--quiet", "--no-pauses", ...where, "--"];
}

function table({ pages, seconds, database }) {
  const rows = pages.map(({ name, count, mean, p95, throughput }) => {
    const own = database.interactions.find((it) => it.name === name);
    return [name, `${count}`, ms(mean), ms(p95), throughput.toFixed(2), `${own.cpuSeconds.toFixed(2)} s`];
  });
  const count = pages.reduce((sum, it) => sum + it.count, 0);
  rows.push(["all", `${count}`, "", "", (count / seconds).toFixed(2), ""]);
  const head = ["interaction", "count", "mean", "p95", "a second", "MariaDB's CPU"];
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at].length)));
  const pad = (cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]));
  return [head, ...rows].map((row) => row.map(pad).join("  ")).join("\n");
}

function ms(value) {
  return `${value.toFixed(1)} ms`;
}
