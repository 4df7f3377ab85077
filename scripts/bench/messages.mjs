/**
 * `npm run bench -- messages [MEDIUM…]`: 100,000 remote calls over TCP, Unix sockets and pipes, in random pieces, with all
 * functions that send and receive. The right context of each call is known, because the calling functions have the request's
 * kind in their names (transactions/chain.c). An unrecorded process writes down the bytes on the wire, which are compared with
 * those when nothing is recorded. Writes its section of docs/accuracy.md.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { run as compile, engineBinary, root, StepError, which } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { freePorts } from "./lib/ports.mjs";
import { grouped, measureCases, table } from "./transactions/cases.mjs";
import { asked } from "./transactions/serving.mjs";

const work = path.join(root, "out", "bench", "messages");
const program = path.join(work, "chain");
const run = path.join(work, "run");
const seed = "7";
/** The number of requests, each with one call over each medium; and the number of calls on the observed wires. */
const sizes = { normal: { requests: 100_000, calls: 20_000 }, quick: { requests: 2000, calls: 500 } };
const verbs = ["ask", "relay", "note", "store"];
const media = ["TCP", "unix sockets", "pipes"];

/** @type {{ name: string, kind?: "tcp" | "unix" | "pipe" }[]} */
const cases = [
  { name: "contexts" },
  { name: "wire of TCP", kind: "tcp" },
  { name: "wire of unix sockets", kind: "unix" },
  { name: "wire of pipes", kind: "pipe" },
];

/** Which sides are recorded. The wire must be the same. */
const ways = { nobody: [], both: ["server", "client"], "the client": ["client"], "the server": ["server"] };

export async function bench(args) {
  mkdirSync(work, { recursive: true });
  const source = path.join(root, "scripts", "bench", "transactions", "chain.c");
  await compile("gcc", ["-g", "-O1", "-pthread", "-D_GNU_SOURCE", "-o", program, source]);
  await measureCases(args, { name: "messages", cases, measure, report, wrong });
}

function measure({ kind }, quick) {
  const { requests, calls } = quick ? sizes.quick : sizes.normal;
  return kind === undefined ? contexts(requests) : wire(kind, calls);
}

/** All requests, and each call's context according to Fulcrum. */
async function contexts(requests) {
  rmSync(run, { recursive: true, force: true });
  const record = [
    engineBinary,
    "transactions",
    "run",
    "--quiet",
    "--no-pauses",
    "--no-names",
    "--limit",
    "8G",
    "--output",
    run,
    "--",
  ];
  rmSync(path.join(work, "chain.sock"), { force: true });
  const { code, stdout, stderr } = await runChild([...record, program, "links", `${requests}`, seed, work], {
    limit: 900,
  });
  if (code !== 0) {
    throw new StepError(`The programs did not get their messages: exit code ${code}\n${stderr}`);
  }
  const { types, notes } = await asked("compare", run, run, "--no-names");
  return { requests, ...readings(stdout), kinds: kindsOf(stdout), ...judged(types), notes };
}

/** The number of reads, and of those that ended within a message. */
function readings(stdout) {
  const all = [...stdout.matchAll(/^\w+ reads (\d+) partial (\d+)$/gm)];
  const sum = (at) => all.reduce((total, it) => total + Number(it[at]), 0);
  return { reads: sum(1), partial: sum(2) };
}

const kindsOf = (stdout) => [...stdout.matchAll(/^kind \d+ (\d+)$/gm)].map(([, count]) => Number(count));

/** For each medium, how many requests had the right context and how many a wrong one; by kind, those at the end. */
function judged(types) {
  const right = media.map(() => 0);
  const wrong = media.map(() => 0);
  const wrongNames = [];
  /** @type {Record<string, number>} */
  const atEnd = {};
  for (const { name, a } of types) {
    const steps = [...name.matchAll(/\b(ask|relay|note|store)_(\d+)\b/g)].map(([, verb, kind]) => ({ verb, kind }));
    const known = verbs.filter((verb) => steps.some((it) => it.verb === verb));
    // A call is judged by the next call of its receiver. The last receiver makes none, but has the earlier context.
    const hop = known.length - 2;
    if (hop < 0 || hop >= media.length || a === null) {
      continue;
    }
    const kinds = new Set(steps.map((it) => it.kind));
    const isRight = kinds.size === 1 && known.every((verb, at) => verb === verbs[at]);
    (isRight ? right : wrong)[hop] += a.transactions;
    if (!isRight) {
      wrongNames.push(`${name}: ${a.transactions}`);
    }
    if (isRight && hop === media.length - 1) {
      const [kind = ""] = kinds;
      atEnd[kind] = (atEnd[kind] ?? 0) + a.transactions;
    }
  }
  return { right, wrong, wrongNames: wrongNames.slice(0, 20), atEnd };
}

/** The bytes on the wire, for each choice of recorded sides. */
async function wire(kind, calls) {
  const captures = {};
  for (const [way, recorded] of Object.entries(ways)) {
    captures[way] = await captured(kind, calls, recorded);
  }
  return { calls, captures };
}

/** Starts a server, the process that writes down, and a client. All must end normally, with equal comparisons. */
async function captured(kind, calls, recorded) {
  const places = await wirePlaces(kind);
  const file = path.join(work, `wire-${kind}`);
  const parts = {
    server: ["server", kind, places.server, `${calls}`, seed],
    record: ["record", kind, places.client, places.server, file],
    client: ["client", kind, places.client, `${calls}`, seed],
  };
  const children = Object.entries(parts).map(([name, args]) => {
    const output = path.join(work, `run-${name}`);
    rmSync(output, { recursive: true, force: true });
    const record = [engineBinary, "transactions", "run", "--quiet", "--no-pauses", "--output", output, "--"];
    return started(name, [...(recorded.includes(name) ? record : []), program, ...args]);
  });
  await Promise.all(children);
  const bytes = ["requests", "answers"].map((way) => readFileSync(`${file}.${way}`));
  return bytes.map((it) => ({ length: it.length, digest: createHash("sha256").update(it).digest("hex") }));
}

async function started(name, command) {
  const { code, stderr, late } = await runChild(command, { limit: 600 });
  if (code !== 0) {
    throw new StepError(`The ${name} ${late ? "did not end" : `ended with ${code}`}: ${stderr}`);
  }
}

/** How the client reaches the process that writes down, and how that one reaches the server. */
async function wirePlaces(kind) {
  if (kind === "tcp") {
    const [client, server] = await freePorts(2);
    return { client: `${client}`, server: `${server}` };
  }
  const places = { client: path.join(work, `${kind}-client`), server: path.join(work, `${kind}-server`) };
  for (const place of Object.values(places)) {
    rmSync(place, { recursive: true, force: true });
    if (kind === "pipe") {
      mkdirSync(place);
      if (which("mkfifo") === undefined) {
        throw new StepError("mkfifo is missing. Install coreutils.");
      }
      await compile("mkfifo", [path.join(place, "in"), path.join(place, "out")]);
    }
  }
  return places;
}

function report(rows) {
  const found = rows.find(([it]) => it.kind === undefined)?.[1];
  const wires = rows.filter(([it]) => it.kind !== undefined);
  return `## Messages

${found === undefined ? "" : contextsTold(found)}

A process between client and server, which is not recorded itself, writes down the bytes on the wire. Each row is compared with the
bytes of a run in which nothing is recorded. Client and server check every byte that they receive, in all runs.

${table(
  ["wire", "recorded", "calls", "bytes of requests", "bytes of answers", "other than alone"],
  wires.flatMap(([{ name }, { calls, captures }]) =>
    Object.entries(captures).map(([way, [requests, answers]]) => [
      name.replace("wire of ", ""),
      way,
      grouped(calls),
      grouped(requests.length),
      grouped(answers.length),
      way === "nobody" ? "" : differs(captures, way) ? "**yes**" : "no",
    ]),
  ),
)}`;
}

function contextsTold({ requests, reads, partial, right, wrong }) {
  const rows = media.map((medium, at) => {
    const unknown = requests - right[at] - wrong[at];
    return [medium, ...[requests, right[at], wrong[at], unknown].map(grouped)];
  });
  return `${grouped(requests)} requests of four clients at a time went through a chain of programs, with one call over each medium. A call is right if
its context is that of its own request, as the functions' names show (\`ask_7\`, \`relay_7\`, \`note_7\`, \`store_7\`, of 16 kinds). Messages are
sent and received in random pieces by all available functions, including vectored ones and system calls: ${grouped(reads)} reads, of
which ${grouped(partial)} ended within a message. All requests share one unix socket and one pair of pipes.

${table(["medium", "calls", "right", "wrong", "unknown"], rows)}`;
}

const differs = ({ nobody, ...others }, way) =>
  others[way].some(({ length, digest }, at) => length !== nobody[at].length || digest !== nobody[at].digest);

function wrong({ captures, ...found }) {
  if (captures !== undefined) {
    const other = Object.keys(ways).filter((way) => way !== "nobody" && differs(captures, way));
    return other.map((way) => `with ${way} recorded, other bytes went through`);
  }
  const bad = media.flatMap((medium, at) => {
    const { requests, right, wrong } = found;
    return right[at] === requests && wrong[at] === 0
      ? []
      : [`${medium}: ${right[at]} of ${requests} right, ${wrong[at]} wrong`];
  });
  const kinds = found.kinds.flatMap((count, kind) => {
    const there = found.atEnd[kind] ?? 0;
    return there === count ? [] : [`of kind ${kind}, ${there} of ${count} came to the end`];
  });
  return [...bad, ...kinds];
}
