/**
 * `npm run bench -- kills [SERVER…]`: `kill -9` at twenty random moments, of servers that are recorded under load, of each tier
 * of the bookstore, and of the recorder itself. Each time, the recording must open, and have every answered request.
 * Writes its section of docs/accuracy.md.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Browser, Measured } from "../../samples/bookstore/browsers.mjs";
import { answers, ask, initialise, server as mariadbd, shutDown } from "../../samples/bookstore/database.mjs";
import { INTERACTIONS } from "../../samples/bookstore/interactions.mjs";
import { parse } from "../../samples/bookstore/options.mjs";
import { schema } from "../../samples/bookstore/schema.mjs";
import { haproxy, listens, Tiers, tomcat } from "../../samples/bookstore/tiers.mjs";
import { root, StepError } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { freePorts } from "./lib/ports.mjs";
import { generator } from "./lib/statistics.mjs";
import { grouped, measureCases, table } from "./transactions/cases.mjs";
import { descendants, kill, opened } from "./transactions/killing.mjs";
import { installed, prepare } from "./transactions/servers.mjs";
import { isListening, recorder, signalGroup } from "./transactions/serving.mjs";

const work = path.join(root, "out", "bench", "kills");
const run = path.join(work, `run-${process.pid}`);
const moments = { normal: 20, quick: 2 };
/** A server is killed up to this long after it starts to listen, milliseconds. A quarter of the kills come before that. */
const longest = 1500;

/** The client of a server, and the names of its answers as transactions. */
const asking = {
  nginx: { protocol: "http", paths: { "/small.html": "GET /small.html", "/large.html": "GET /large.html" } },
  "Apache, event": { protocol: "http", paths: { "/small.html": "GET /small.html", "/large.html": "GET /large.html" } },
  "Apache, worker": { protocol: "http", paths: { "/small.html": "GET /small.html", "/large.html": "GET /large.html" } },
  Redis: { protocol: "redis", paths: { key: "redis GET" } },
  memcached: { protocol: "memcached", paths: { key: "memcached get" } },
};

export async function bench(args) {
  mkdirSync(work, { recursive: true });
  const { found } = installed();
  const servers = found.map((server) => ({ name: server.name, server }));
  const nginx = found.find(({ name }) => name.startsWith("nginx"));
  const cases = [
    ...servers,
    ...(nginx === undefined ? [] : [{ name: "the recorder itself", server: nginx, isRecorder: true }]),
    { name: "bookstore" },
  ];
  try {
    await measureCases(args, { name: "kills", behind: "redis", cases, measure, report, wrong });
  } finally {
    rmSync(run, { recursive: true, force: true });
  }
}

async function measure({ name, server, isRecorder = false }, quick) {
  const count = quick ? moments.quick : moments.normal;
  if (server === undefined) {
    return bookstore(count);
  }
  const random = generator(name.length);
  await prepare([server]);
  const kills = [];
  for (let n = 0; n < count; n += 1) {
    kills.push(await killed(server, { isRecorder, isEarly: n % 4 === 3, wait: random() * longest }));
  }
  return { tiers: { [name]: summary(kills) } };
}

/** Starts a server and its clients, kills it at a given moment, and checks the recording. */
async function killed(server, { isRecorder, isEarly, wait }) {
  rmSync(run, { recursive: true, force: true });
  const [program, ...args] = [...recorder(run), ...server.command(server.port)];
  const child = spawn(program, args, { stdio: "ignore", detached: true });
  const ended = new Promise((resolve) => {
    child.on("error", resolve).on("close", resolve);
  });
  let load = Promise.resolve({});
  try {
    while (!isEarly && !(await isListening(server.port))) {
      if (child.exitCode !== null) {
        throw new StepError(`${server.name} ended immediately with exit code ${child.exitCode}.`);
      }
      await pause(20);
    }
    load = isEarly ? load : asked(server);
    await pause(wait);
    while (descendants(child.pid).length === 0 && child.exitCode === null) {
      await pause(1);
    }
    const all = descendants(child.pid);
    for (const pid of isRecorder ? [child.pid] : all) {
      kill(pid);
    }
    if (isRecorder) {
      await pause(100);
      all.forEach(kill);
    }
    await ended;
  } finally {
    signalGroup(child, "SIGKILL");
  }
  return { answered: await load, ...(await opened(run)) };
}

/** Sends requests until the server is gone. Returns how many answers there were, by transaction name. */
async function asked({ name, port, load, requests }) {
  const how = Object.entries(asking).find(([it]) => name.startsWith(it))?.[1];
  if (how === undefined) {
    await load(port, requests).catch(() => undefined);
    return {};
  }
  const script = path.join(root, "scripts", "bench", "transactions", "asker.mjs");
  const sizes = [`${port}`, "8", "1000000"];
  const { stdout } = await runChild([process.execPath, script, how.protocol, ...sizes, ...Object.keys(how.paths)]);
  const { answers } = JSON.parse(stdout);
  return Object.fromEntries(Object.entries(how.paths).map(([path, name]) => [name, answers[path]]));
}

/** The results of twenty kills of a tier. */
function summary(kills) {
  const all = kills.map((it) => ({ ...it, missing: missing(it) }));
  const sum = (values) => values.reduce((total, it) => total + it, 0);
  return {
    kills: kills.length,
    opened: kills.filter((it) => it.error === undefined).length,
    answered: sum(all.flatMap((it) => Object.values(it.answered))),
    missing: sum(all.map((it) => it.missing)),
    cut: sum(all.map((it) => it.cut ?? 0)),
    errors: kills.flatMap((it) => it.error ?? []),
  };
}

/** Answered requests that are not in the recording. */
function missing({ answered, counts = {} }) {
  const each = Object.entries(answered).map(([name, count]) => Math.max(0, count - (counts[name] ?? 0)));
  return each.reduce((sum, it) => sum + it, 0);
}

/** All three tiers of the bookstore, each killed at its own moment while the others run or are gone. */
async function bookstore(count) {
  const [port] = await freePorts(3);
  const options = parse(["--items", "500", "--customers", "500", "--port", `${port}`]);
  const folder = mkdtempSync(path.join(tmpdir(), "fulcrum-kills-"));
  const names = ["haproxy", "tomcat", "mariadbd"];
  const random = generator(8);
  const kills = [];
  try {
    const filled = path.join(folder, "filled");
    await fill(filled, options);
    for (let n = 0; n < count; n += 1) {
      const shop = path.join(folder, "shop");
      rmSync(shop, { recursive: true, force: true });
      cpSync(filled, shop, { recursive: true });
      kills.push(
        await killedShop(
          shop,
          options,
          names.map((name) => [name, random() * 3000]),
        ),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { tiers: Object.fromEntries(names.map((name) => [`bookstore: ${name}`, summary(kills)])) };
}

async function fill(folder, options) {
  mkdirSync(folder, { recursive: true });
  await initialise(folder);
  const tiers = new Tiers(folder, { mariadbd: mariadbd(folder, options.port + 2) });
  try {
    await tiers.until("mariadbd", () => answers(folder));
    await ask(folder, schema(options));
    await shutDown(folder);
  } finally {
    await tiers.end();
  }
}

async function killedShop(folder, options, moments) {
  rmSync(run, { recursive: true, force: true });
  const programs = {
    mariadbd: mariadbd(folder, options.port + 2),
    tomcat: tomcat(folder, options),
    haproxy: haproxy(folder, options),
  };
  const tiers = new Tiers(folder, programs, recorder(run));
  const measured = new Measured();
  try {
    await tiers.until("mariadbd", () => answers(folder));
    await tiers.until("tomcat", () => listens(options.port + 1));
    await tiers.until("haproxy", () => listens(options.port));
    const stop = new AbortController();
    const browsers = browse(options, measured, stop.signal);
    // Tomcat needs seconds for its first pages.
    await tiers.until("haproxy", () => pagesOf(measured) >= 20);
    await Promise.all(
      moments.map(async ([name, wait]) => {
        await pause(wait);
        kill(tiers.pid(name));
      }),
    );
    stop.abort();
    await browsers;
  } finally {
    await tiers.end();
  }
  const pages = Object.entries(measured.milliseconds);
  const answered = Object.fromEntries(pages.map(([name, all]) => [`GET /bookstore/${name.toLowerCase()}`, all.length]));
  return { answered, ...(await opened(run)) };
}

const pagesOf = ({ milliseconds }) => Object.values(milliseconds).reduce((sum, all) => sum + all.length, 0);

/** Browsers that tolerate missing pages. */
async function browse(options, measured, signal) {
  const agent = new http.Agent({ keepAlive: true });
  const names = Object.keys(INTERACTIONS);
  const browsers = Array.from({ length: 8 }, (_, number) => new Browser(number, options, options.port, agent));
  await Promise.all(
    browsers.map(async (browser) => {
      while (!signal.aborted) {
        const name = names[browser.draw(names.length) - 1];
        await browser.visit(name, measured).catch(() => pause(20));
      }
    }),
  );
  agent.destroy();
}

/** Whether a server was killed before it recorded anything. Then there is nothing to open, and the error says so. */
const isNothing = (error) => error.includes("has no logs of transactions");

function report(rows) {
  const tiers = rows.flatMap(([, { tiers }]) => Object.entries(tiers));
  const errors = tiers.flatMap(([name, it]) =>
    it.errors.filter((error) => !isNothing(error)).map((error) => `- ${name}: ${error}`),
  );
  return `### Killed at random moments

Each server is recorded under load and killed by \`kill -9\` with all its processes, up to ${longest / 1000} s after it listens; every fourth time
it is killed while it starts. The tiers of the bookstore run together and are killed one after the other, up to 3 s after the first
twenty pages. *Nothing yet* are servers that were killed before they had begun. *Answered* are requests with complete answers (not
counted for MariaDB and PostgreSQL); each of them must be in the recording.

${table(
  ["killed", "times", "opens", "nothing yet", "answered before", "missing", "logs reported as cut"],
  tiers.map(([name, it]) => {
    const nothing = it.errors.filter(isNothing).length;
    return [name, it.kills, it.opened, nothing, grouped(it.answered), grouped(it.missing), it.cut];
  }),
)}
${errors.length === 0 ? "" : `\n${errors.join("\n")}\n`}`.trim();
}

function wrong({ tiers }) {
  return Object.entries(tiers).flatMap(([name, it]) => [
    ...it.errors.filter((error) => !isNothing(error)).map((error) => `${name} does not open: ${error}`),
    ...(it.missing > 0 ? [`${name}: ${it.missing} of ${it.answered} requests are missing`] : []),
  ]);
}
