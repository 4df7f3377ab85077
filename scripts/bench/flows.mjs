/**
 * `npm run bench -- flows [CASE…]`: what flows through shared memory in servers that the distribution packages, and in a
 * server with a thread pool as OpenTelemetry's issue #2259 describes it, of which every request is judged. Writes its section
 * of docs/accuracy.md.
 */
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { run as compile, root, StepError } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { freePorts } from "./lib/ports.mjs";
import { grouped, measureCases, table } from "./transactions/cases.mjs";
import { installed, prepare } from "./transactions/servers.mjs";
import { asked, recorder, whileServing } from "./transactions/serving.mjs";

const work = path.join(root, "out", "bench", "flows");
const run = path.join(work, "run");
const connections = { normal: 4000, quick: 160 };
const letters = [..."abcdefghijklmnopqrstuvwxyz"];

/** Servers, and how many requests their loads send by a connection. */
const byConnection = { "memcached, -t 2": 2 };

/** As in the issue, a few threads do what many requests ask for. */
const pool = {
  port: (await freePorts(1))[0],
  connections: 8,
  threads: 4,
  runs: [400, 10_000],
};

export async function bench(args) {
  mkdirSync(work, { recursive: true });
  const program = path.join(work, "pool");
  const source = path.join(root, "scripts", "bench", "transactions", "pool.c");
  await compile("gcc", ["-g", "-O2", "-pthread", "-D_GNU_SOURCE", "-o", program, source]);
  const { found } = installed();
  const servers = found.filter(({ queue, handsOver, sharesNothing }) => queue ?? handsOver ?? sharesNothing);
  const pools = pool.runs.map((requests) => ({
    name: `thread pool, ${grouped(requests)} requests`,
    requests,
    program,
  }));
  await measureCases(args, { name: "flows", cases: [...servers, ...pools], measure, report, wrong });
}

function measure(it, quick) {
  return it.program === undefined ? served(it, quick ? connections.quick : connections.normal) : pooled(it);
}

/** So many connections to a server, and what flowed through its memory. */
async function served(server, count) {
  await prepare([server]);
  rmSync(run, { recursive: true, force: true });
  const requests = count * (byConnection[server.name] ?? 1);
  await whileServing(server, recorder(run), () => server.load(server.port, requests));
  const { flows, notes } = await asked("show", run);
  const memory = flows.filter(({ kind }) => kind === "memory");
  const [from, to] = server.queue ?? [memory[0]?.from, memory[0]?.to];
  const isQueue = (flow) => !server.sharesNothing && flow.from === from && flow.to === to;
  const handed = memory.filter(isQueue).reduce((sum, flow) => sum + flow.count, 0);
  const others = memory
    .filter((flow) => !isQueue(flow))
    .map((flow) => ({ ...flow, name: `${flow.from} → ${flow.to}` }));
  const name = handed > 0 ? `${from} → ${to}` : "";
  const { sharesNothing = false } = server;
  return { connections: count, handed, name, others, notes, sharesNothing };
}

/** Requests of a server with a pool, each of a kind that its paths say, and whose they were behind the pool. */
async function pooled({ program, requests, name }) {
  rmSync(run, { recursive: true, force: true });
  const server = { name, port: pool.port, command: (port) => [program, `${port}`, `${pool.threads}`] };
  const paths = letters.map((letter) => `/work/${letter}`);
  const asker = path.join(root, "scripts", "bench", "transactions", "asker.mjs");
  await whileServing(server, recorder(run), async () => {
    const command = [process.execPath, asker, "http", `${pool.port}`, `${pool.connections}`, `${requests}`, ...paths];
    const { code, stdout, stderr } = await runChild(command);
    if (code !== 0) {
      throw new StepError(`Not every request was answered:\n${stdout}${stderr}`);
    }
  });
  const pairs = letters.flatMap((a) => letters.map((b) => [a, b]));
  // The first rule that fits counts: behind the pool each request has the path of the one that it is for, or none.
  const rules = [
    ...pairs.map(([a, b]) => `${a} ${b}=GET /work/${a} > GET /item/${b}`),
    ...letters.map((b) => `nobody ${b}=GET /item/${b}`),
  ];
  const { types, notes } = await asked("compare", run, run, ...rules.flatMap((rule) => ["--type", rule]));
  const count = (isOne) =>
    types.filter(({ name }) => isOne(name)).reduce((sum, { a }) => sum + (a?.transactions ?? 0), 0);
  return {
    requests,
    right: count((name) => /^(\w) \1$/.test(name)),
    wrong: count((name) => /^(\w) (?!\1)\w$/.test(name)),
    nobody: count((name) => name.startsWith("nobody ")),
    notes,
  };
}

function report(rows) {
  const servers = rows.filter(([it]) => it.program === undefined);
  const pools = rows.filter(([it]) => it.program !== undefined);
  const others = servers.flatMap(([{ name }, it]) =>
    it.others.map((flow) => `- ${name}: ${grouped(flow.count)} × ${flow.name}`),
  );
  return `## Flow through shared memory

Servers as Debian packages them; each connection has a request of its own (memcached's has two). *Handed over* are flows from the
function that puts a connection into the server's queue to the one that takes it out. One more connection, which is not counted,
checked whether the server listens. Apache's event MPM puts a connection into the queue again when it lingers. PostgreSQL has
processes, which hand nothing over through memory.

${table(
  ["server", "connections", "handed over", "by", "other flows"],
  servers.map(([{ name }, it]) => [
    name,
    grouped(it.connections),
    it.sharesNothing ? "–" : grouped(it.handed),
    it.name.replaceAll("|", "\\|"),
    grouped(it.others.reduce((sum, flow) => sum + flow.count, 0)),
  ]),
)}
${others.length === 0 ? "" : `\n${others.join("\n")}\n`}
The thread pool has the shape of OpenTelemetry's issue #2259: a request is handed to a pool of four threads, which asks another
server, while the thread that took the request waits for the result. All connections are kept. The first row quotes the issue: the
result of OpenTelemetry's eBPF instrumentation for 400 requests to a Java program of this shape. Each request has one of 26 paths, so a
wrong attribution is detected with a probability of 96 %.

${table(
  ["thread pool", "requests", "right", "wrong", "nobody's"],
  [
    ["issue #2259", "400", "19", "63", "317"],
    ...pools.map(([, it]) => [
      "Fulcrum",
      grouped(it.requests),
      grouped(it.right),
      grouped(it.wrong),
      grouped(it.nobody),
    ]),
  ],
)}`;
}

function wrong(it) {
  if (it.requests !== undefined) {
    const isRight = it.right >= 0.999 * it.requests && it.wrong === 0;
    return isRight ? [] : [`${it.right} of ${it.requests} right, ${it.wrong} wrong`];
  }
  const missing =
    !it.sharesNothing && it.handed < it.connections ? [`${it.handed} of ${it.connections} handed over`] : [];
  return [...missing, ...it.others.map((flow) => `${flow.count} other flows: ${flow.name}`)];
}
